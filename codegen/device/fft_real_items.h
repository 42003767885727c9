#pragma once
//! section fft_real_items needs fft_items
// Transforms of 2 N real numbers, or to as many, by a transform z of N complex ones: the parts of
// element j are the numbers 2 j and 2 j + 1, which a function passes at once. The transform of the
// real numbers is N + 1 complex ones; elements k and N - k of it come from those of z.

// Elements k and N - k of the result, from elements k and N - k of z, are lower(even, turned) and
// upper(even, turned), where `turned` is odd * exp(-pi i k / N).
template <class T>
struct FftMirrored {
  using Number = heddle_scalar::complex<T>;
  Number even, odd;

  __device__ __forceinline__ FftMirrored(T a_re, T a_im, T b_re, T b_im)
      : even(static_cast<T>(0.5) * (a_re + b_re), static_cast<T>(0.5) * (a_im - b_im)),
        odd(static_cast<T>(0.5) * (a_im + b_im), static_cast<T>(0.5) * (b_re - a_re)) {}
  static __device__ __forceinline__ Number lower(Number even, Number turned) {
    return even + turned;
  }
  static __device__ __forceinline__ Number upper(Number even, Number turned) {
    return Number(even.re - turned.re, turned.im - even.im);
  }
};

// The last stage of the transform of real numbers, where a thread computes butterflies whose
// results mirror each other: it has both elements of z for each of its results. Of z, the item has
// the elements Parts * k + part, for k < N. `doubled` holds exp(-pi i k / R) for k < R; then, for
// each part, exp(-pi i (k + part / Parts) / N) for k up to the number of pairs of butterflies.
template <class T, int N, int Threads, int Parts, int R>
struct RfftLastStage {
  using Number = heddle_scalar::complex<T>;
  using Mirrored = FftMirrored<T>;
  static constexpr int count = N / R, pairs = (count + 1) / 2, whole = Parts * N;
  const T* doubled;
  int part;

  __device__ __forceinline__ Number root(int k) const {
    return fft_root(doubled, R + part * (pairs + 1) + k);
  }

  // Butterflies 0 and count / 2 of the first part are their own mirrors.
  template <class To>
  __device__ __forceinline__ void put_own_mirrors(const T (&re)[2][R], const T (&im)[2][R],
                                                  const To& to) const {
    const auto put = [&](int k, int butterfly, int one, int other, Number turn) {
      const Mirrored pair(re[butterfly][one], im[butterfly][one], re[butterfly][other],
                          im[butterfly][other]);
      const Number turned = pair.odd * turn;
      fft_put<T>(to, Parts * k, Mirrored::lower(pair.even, turned));
      if (2 * k != N) fft_put<T>(to, whole - Parts * k, Mirrored::upper(pair.even, turned));
    };
#pragma unroll
    for (int k = 0; 2 * k <= R; ++k) put(k * count, 0, k, k == 0 ? 0 : R - k, fft_root(doubled, k));
    if constexpr (count % 2 == 0) {
      const Number first = root(count / 2);
#pragma unroll
      for (int k = 0; 2 * k < R; ++k)
        put(count / 2 + k * count, 1, k, R - 1 - k, first * fft_root(doubled, k));
    }
  }

  // Butterflies q and its mirror.
  template <class To>
  __device__ __forceinline__ void put_mirrors(const T (&re)[2][R], const T (&im)[2][R], int q,
                                              const To& to) const {
    T even_re[R], even_im[R], odd_re[R], odd_im[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const Mirrored pair(re[0][k], im[0][k], re[1][R - 1 - k], im[1][R - 1 - k]);
      even_re[k] = pair.even.re;
      even_im[k] = pair.even.im;
      odd_re[k] = pair.odd.re;
      odd_im[k] = pair.odd.im;
    }
    const auto step = [&](int k) { return fft_root(doubled, k); };
    fft_multiply_powers<true>(odd_re, odd_im, root(q), step, [&](int k, Number turned) {
      const Number even(even_re[k], even_im[k]);
      const int number = Parts * (q + k * count) + part;
      fft_put<T>(to, number, Mirrored::lower(even, turned));
      fft_put<T>(to, whole - number, Mirrored::upper(even, turned));
    });
  }

  template <class From, class To>
  __device__ __forceinline__ void run(const From& from, const To& to, int lane) const {
    constexpr int each = (pairs + Threads - 1) / Threads;
    T re[each][2][R], im[each][2][R];
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int q = j * Threads + lane;
      const bool own_mirrors = q == 0 && part == 0;
      const int starts[] = {q, own_mirrors ? count / 2 : count - part - q};
      if (pairs % Threads == 0 || q < pairs) {
#pragma unroll
        for (int butterfly = 0; butterfly < 2; ++butterfly) {
#pragma unroll
          for (int k = 0; k < R; ++k) {
            const Number one = fft_get<T>(from, starts[butterfly] + k * count);
            re[j][butterfly][k] = one.re;
            im[j][butterfly][k] = one.im;
          }
        }
      }
    }
    if constexpr (in_shared<T, From> && in_shared<T, To>) block_barrier();
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int q = j * Threads + lane;
      if (pairs % Threads == 0 || q < pairs) {
        fft_butterfly<T, R, false>(re[j][0], im[j][0]);
        fft_butterfly<T, R, false>(re[j][1], im[j][1]);
        if (q == 0 && part == 0) {
          put_own_mirrors(re[j], im[j], to);
        } else {
          put_mirrors(re[j], im[j], q, to);
        }
      }
    }
    if constexpr (in_shared<T, To>) block_barrier();
  }
};

// Pairs of neighbouring real numbers as complex ones, of a function or of the item.
template <class T, class From>
__device__ __forceinline__ auto fft_pairs(FftNumbers<T> x, const From& from) {
  if constexpr (heddle_scalar::is_same<From, SharedArray<T>>) {
    return x;
  } else {
    return [&from](int i) {
      const auto parts = from(2 * i);
      return heddle_scalar::complex<T>(parts.v[0], parts.v[1]);
    };
  }
}

template <class T, int N, int Threads, int... Radices, class From, class To>
__device__ __forceinline__ void rfft_item(SharedArray<T>, FftNumbers<T> x, int lane, const T* roots,
                                          const T* doubled, const From& from, const To& to) {
  const auto pairs = fft_pairs<T>(x, from);
  if constexpr (sizeof...(Radices) > 0) {
    fft_stages<T, N, Threads, false, 1, Radices...>(
        x, pairs, lane, roots, [&](auto stage, const auto& source) {
          RfftLastStage<T, N, Threads, 1, stage.radix>{doubled, 0}.run(source, to, lane);
        });
  } else {
    if (lane == 0) {
      const heddle_scalar::complex<T> one = fft_get<T>(pairs, 0);
      fft_put<T>(to, 0, heddle_scalar::complex<T>(one.re + one.im, 0));
      fft_put<T>(to, 1, heddle_scalar::complex<T>(one.re - one.im, 0));
    }
    block_barrier();
  }
}

// Half of the transform of 4 N real numbers, elements 2 k + part, as FftHalf says.
template <class T, int N, int Threads, int... Radices, class From, class To>
__device__ __forceinline__ void rfft_half_item(SharedArray<T>, FftNumbers<T> x, int lane,
                                               const T* roots, const T* halved, const T* doubled,
                                               int part, const From& from, const To& to) {
  const auto pairs = fft_pairs<T>(x, from);
  constexpr int count = N / first_radix<Radices...>();
  const FftHalf<T, N, count, decltype(pairs)> half{pairs, halved, part};
  fft_stages<T, N, Threads, false, 1, Radices...>(
      x, half, lane, roots, [&](auto stage, const auto& source) {
        RfftLastStage<T, N, Threads, 2, stage.radix>{doubled, part}.run(source, to, lane);
      });
}

// The inverse of rfft_item, multiplied by 2 N. The imaginary parts of elements 0 and N are ignored.
template <class T, int N, int Threads, int... Radices, class From, class To>
__device__ __forceinline__ void irfft_item(FftNumbers<T> x, SharedArray<T>, int lane,
                                           const T* roots, const T* doubled, const From& from,
                                           const To& to) {
  using Number = heddle_scalar::complex<T>;
#pragma unroll 4
  for (int k = lane; 2 * k <= N; k += Threads) {
    Number a = fft_get<T>(from, k), b = fft_get<T>(from, N - k);
    if (k == 0) a.im = b.im = 0;
    const Number even(a.re + b.re, a.im - b.im);
    const Number root = fft_root(doubled, k);
    const Number odd = Number(a.re - b.re, a.im + b.im) * Number(root.re, -root.im);
    fft_store<T>(x, k, Number(even.re - odd.im, even.im + odd.re));
    if (0 < k && 2 * k < N) fft_store<T>(x, N - k, Number(even.re + odd.im, odd.re - even.im));
  }
  block_barrier();
  if constexpr (heddle_scalar::is_same<To, SharedArray<T>>) {
    fft_item<T, N, Threads, true, Radices...>(x, x, lane, roots);
  } else {
    const auto parts = [&](int i, Number one) { to(2 * i, Vector<T, 2>{{one.re, one.im}}); };
    fft_item<T, N, Threads, true, Radices...>(x, x, lane, roots, x, parts);
  }
}
