#pragma once
//! section fft_items needs fft_butterfly complex shared padded
// Transforms of one item by `Threads` threads of a block. `lane` is the thread's index among them.
// Every thread of the block calls these functions. The item is in shared memory, and the result
// replaces it. `roots` holds, for each stage but the last, the roots of unity that its results are
// multiplied by, or their conjugates for the inverse, as pairs of real and imaginary part: for k =
// 1 to R - 1 in turn, one pair for each p. Neighbouring threads read neighbouring pairs.
template <class T>
using FftNumbers = SharedArray<heddle_scalar::complex<T>>;

template <class T>
__device__ __forceinline__ heddle_scalar::complex<T> fft_load(FftNumbers<T> x, int i) {
  return shared_load(x, padded<heddle_scalar::complex<T>, sizeof(heddle_scalar::complex<T>)>(i));
}
template <class T>
__device__ __forceinline__ void fft_store(FftNumbers<T> x, int i, heddle_scalar::complex<T> value) {
  shared_store(x, padded<heddle_scalar::complex<T>, sizeof(heddle_scalar::complex<T>)>(i), value);
}

template <class T>
__device__ __forceinline__ heddle_scalar::complex<T> fft_root(const T* roots, long long k) {
  return {roots[2 * k], roots[2 * k + 1]};
}

// One stage of Stockham's algorithm: N / R transforms of R elements, which are N / R apart. `Span`
// is the product of the R of all earlier stages. Every thread loads its elements into registers
// before any thread stores.
template <class T, int N, int Threads, bool Inverse, int Span, int R>
__device__ __forceinline__ void fft_stage(FftNumbers<T> x, int lane, const T* roots) {
  constexpr int count = N / R, each = (count + Threads - 1) / Threads;
  T re[each][R], im[each][R];
#pragma unroll
  for (int j = 0; j < each; ++j) {
    const int b = j * Threads + lane;
    if (count % Threads == 0 || b < count) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const heddle_scalar::complex<T> one = fft_load<T>(x, b + k * count);
        re[j][k] = one.re;
        im[j][k] = one.im;
      }
    }
  }
  block_barrier();
#pragma unroll
  for (int j = 0; j < each; ++j) {
    const int b = j * Threads + lane;
    if (count % Threads == 0 || b < count) {
      fft_butterfly<T, R, Inverse>(re[j], im[j]);
      const int p = b / Span, q = b % Span;
#pragma unroll
      for (int k = 0; k < R; ++k) {
        heddle_scalar::complex<T> one(re[j][k], im[j][k]);
        if (k > 0 && Span * R < N) {
          const heddle_scalar::complex<T> root = fft_root(roots, (k - 1) * (count / Span) + p);
          one = {one.re * root.re - one.im * root.im, one.re * root.im + one.im * root.re};
        }
        fft_store<T>(x, q + Span * (R * p + k), one);
      }
    }
  }
  block_barrier();
}

template <class T, int N, int Threads, bool Inverse, int Span, int R, int... Rest>
__device__ __forceinline__ void fft_stages(FftNumbers<T> x, int lane, const T* roots) {
  fft_stage<T, N, Threads, Inverse, Span, R>(x, lane, roots);
  if constexpr (sizeof...(Rest) > 0) {
    constexpr int read = 2 * (R - 1) * (N / R / Span);
    fft_stages<T, N, Threads, Inverse, Span * R, Rest...>(x, lane, roots + read);
  }
}

template <class T, int N, int Threads, bool Inverse, int... Radices>
__device__ __forceinline__ void fft_item(FftNumbers<T> x, FftNumbers<T>, int lane, const T* roots) {
  if constexpr (sizeof...(Radices) > 0)
    fft_stages<T, N, Threads, Inverse, 1, Radices...>(x, lane, roots);
}

// As fft_item, then multiplies element k by w^(item * k), where w is a root of unity, given by two
// tables: `low` holds w^j for j < 2^Bits, and `high` holds w^(j * 2^Bits).
template <class T, int N, int Threads, bool Inverse, int Bits, int... Radices>
__device__ __forceinline__ void fft_turned_item(FftNumbers<T> x, FftNumbers<T> y, int lane,
                                                const T* roots, const T* low, const T* high,
                                                long long item) {
  fft_item<T, N, Threads, Inverse, Radices...>(x, y, lane, roots);
  const auto turn = [&](long long power) {
    return fft_root(low, power & ((1ll << Bits) - 1)) * fft_root(high, power >> Bits);
  };
  const heddle_scalar::complex<T> own = turn(item * lane);
  for (int begin = 0; begin < N; begin += Threads) {
    const heddle_scalar::complex<T> all = own * turn(item * begin);  // turn() is equal for the item
    const int k = begin + lane;
    if (k < N) fft_store<T>(x, k, fft_load<T>(x, k) * all);
  }
  block_barrier();
}

// The transform of 2 N real numbers. On entry, the parts of element j of x are the numbers 2 j and
// 2 j + 1. The result is N + 1 complex numbers. `doubled` holds exp(-pi i k / N) for k <= N / 2.
template <class T, int N, int Threads, int... Radices>
__device__ __forceinline__ void rfft_item(SharedArray<T>, FftNumbers<T> x, int lane, const T* roots,
                                          const T* doubled) {
  using Number = heddle_scalar::complex<T>;
  fft_item<T, N, Threads, false, Radices...>(x, x, lane, roots);
  const T half = static_cast<T>(0.5);
  for (int k = lane; 2 * k <= N; k += Threads) {
    const Number a = fft_load<T>(x, k), b = fft_load<T>(x, (k == 0 ? 0 : N - k));
    const Number even(half * (a.re + b.re), half * (a.im - b.im));
    const Number odd(half * (a.im + b.im), half * (b.re - a.re));
    const Number turned = odd * fft_root(doubled, k);
    fft_store<T>(x, k, even + turned);
    if (2 * k < N) fft_store<T>(x, N - k, Number(even.re - turned.re, turned.im - even.im));
  }
  block_barrier();
}

// The inverse of rfft_item, multiplied by 2 N. The imaginary parts of elements 0 and N are ignored.
template <class T, int N, int Threads, int... Radices>
__device__ __forceinline__ void irfft_item(FftNumbers<T> x, SharedArray<T>, int lane,
                                           const T* roots, const T* doubled) {
  using Number = heddle_scalar::complex<T>;
  for (int k = lane; 2 * k <= N; k += Threads) {
    Number a = fft_load<T>(x, k), b = fft_load<T>(x, N - k);
    if (k == 0) a.im = b.im = 0;
    const Number even(a.re + b.re, a.im - b.im);
    const Number root = fft_root(doubled, k);
    const Number odd = Number(a.re - b.re, a.im + b.im) * Number(root.re, -root.im);
    fft_store<T>(x, k, Number(even.re - odd.im, even.im + odd.re));
    if (0 < k && 2 * k < N) fft_store<T>(x, N - k, Number(even.re + odd.im, odd.re - even.im));
  }
  block_barrier();
  fft_item<T, N, Threads, true, Radices...>(x, x, lane, roots);
}

// A transform of any length `Length` by transforms of M >= 2 * Length - 1 elements (Bluestein, A
// linear filtering approach to the computation of discrete Fourier transform, 1970). `chirp` holds
// c_k = exp(-pi i k^2 / Length), or its conjugate for the inverse. `filter` holds the transform of
// M elements that are conj(c_k) at k and at M - k, and 0 elsewhere, divided by M.
template <class T, int Length, int M, int Threads, int... Radices>
__device__ __forceinline__ void chirp_item(FftNumbers<T> x, FftNumbers<T>, int lane, const T* roots,
                                           const T* inverse_roots, const T* chirp,
                                           const T* filter) {
  for (int k = lane; k < M; k += Threads) {
    heddle_scalar::complex<T> one(0);
    if (k < Length) one = fft_load<T>(x, k) * fft_root(chirp, k);
    fft_store<T>(x, k, one);
  }
  block_barrier();
  fft_item<T, M, Threads, false, Radices...>(x, x, lane, roots);
  for (int k = lane; k < M; k += Threads)
    fft_store<T>(x, k, fft_load<T>(x, k) * fft_root(filter, k));
  block_barrier();
  fft_item<T, M, Threads, true, Radices...>(x, x, lane, inverse_roots);
  for (int k = lane; k < Length; k += Threads)
    fft_store<T>(x, k, fft_load<T>(x, k) * fft_root(chirp, k));
  block_barrier();
}
