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
// Butterflies 0 and count / 2 of the first part are their own mirrors. One thread has both, and
// takes other pairs of their results by the same instructions.
template <class T, int N, int Threads, int Parts, int R>
struct RfftLastStage {
  using Number = heddle_scalar::complex<T>;
  static constexpr int count = N / R, pairs = (count + 1) / 2, whole = Parts * N;
  static constexpr int upper = R / 2, lower = R - upper;
  const T* doubled;
  int part;

  __device__ __forceinline__ Number root(int k) const {
    return fft_root(doubled, R + part * (pairs + 1) + k);
  }

  // Results k = first + j * count for j < Results, and their mirrors. `at(j)` and `mirror(j)` are
  // the elements of z that they come from, and `turn` is the root of the first one.
  template <int Results, class At, class Mirror, class To>
  __device__ __forceinline__ void put(int first, Number turn, const At& at, const Mirror& mirror,
                                      const To& to) const {
    T even_re[Results], even_im[Results], odd_re[Results], odd_im[Results];
#pragma unroll
    for (int j = 0; j < Results; ++j) {
      const Number a = at(j), b = mirror(j);
      const FftMirrored<T> pair(a.re, a.im, b.re, b.im);
      even_re[j] = pair.even.re;
      even_im[j] = pair.even.im;
      odd_re[j] = pair.odd.re;
      odd_im[j] = pair.odd.im;
    }
    const auto step = [&](int k) { return fft_root(doubled, k); };
    fft_multiply_powers<true>(odd_re, odd_im, turn, step, [&](int j, Number turned) {
      const Number even(even_re[j], even_im[j]);
      const int number = Parts * (first + j * count) + part;
      fft_put<T>(to, number, FftMirrored<T>::lower(even, turned));
      fft_put<T>(to, whole - number, FftMirrored<T>::upper(even, turned));
    });
  }

  template <class To>
  __device__ __forceinline__ void put_all(const T (&re)[2][R], const T (&im)[2][R], int q,
                                          const To& to) const {
    const bool own = q == 0 && part == 0;
    const auto of = [&](int butterfly, int k) {
      return Number(re[butterfly][k], im[butterfly][k]);
    };
    const auto either = [&](Number mine, Number other) {
      return Number(own ? mine.re : other.re, own ? mine.im : other.im);
    };
    put<lower>(
        q, root(q), [&](int j) { return of(0, j); },
        [&](int j) { return either(of(0, j == 0 ? 0 : R - j), of(1, R - 1 - j)); }, to);
    if constexpr (upper > 0) {
      const Number turn = either(root(count / 2), root(q) * fft_root(doubled, lower));
      if (count % 2 == 0 || !own) {
        put<upper>(
            own ? count / 2 : q + lower * count, turn,
            [&](int j) { return either(of(1, j), of(0, lower + j)); },
            [&](int j) { return either(of(1, R - 1 - j), of(1, R - 1 - lower - j)); }, to);
      }
    }
    if constexpr (N % 2 == 0) {
      const Number middle = R % 2 == 0 ? of(0, R / 2) : of(1, R / 2);
      if (own) fft_put<T>(to, Parts * (N / 2), Number(middle.re, -middle.im));
    }
  }

  template <class From, class To>
  __device__ __forceinline__ void run(const From& from, const To& to, int lane) const {
    constexpr int each = (pairs + Threads - 1) / Threads;
    T re[each][2][R], im[each][2][R];
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int q = j * Threads + lane;
      const int starts[] = {q, q == 0 && part == 0 ? count / 2 : count - part - q};
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
        put_all(re[j], im[j], q, to);
      }
    }
    if constexpr (in_shared<T, To>) block_barrier();
  }
};

// All numbers of the result from those of z in the item's memory. `doubled` holds exp(-pi i k / N)
// for k <= N / 2.
template <class T, int N, int Threads, class To>
__device__ __forceinline__ void rfft_split(FftNumbers<T> z, const T* doubled, int lane,
                                           const To& to) {
#pragma unroll 4
  for (int k = lane; 2 * k <= N; k += Threads) {
    const heddle_scalar::complex<T> a = fft_load<T>(z, k), b = fft_load<T>(z, k == 0 ? 0 : N - k);
    const FftMirrored<T> pair(a.re, a.im, b.re, b.im);
    const heddle_scalar::complex<T> turned = pair.odd * fft_root(doubled, k);
    fft_put<T>(to, k, FftMirrored<T>::lower(pair.even, turned));
    if (2 * k < N) fft_put<T>(to, N - k, FftMirrored<T>::upper(pair.even, turned));
  }
  if constexpr (in_shared<T, To>) block_barrier();
}

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

// `Paired`: the last stage is RfftLastStage, else rfft_split follows it.
template <class T, int N, int Threads, bool Paired, int... Radices, class From, class To>
__device__ __forceinline__ void rfft_item(SharedArray<T>, FftNumbers<T> x, int lane, const T* roots,
                                          const T* doubled, const From& from, const To& to) {
  const auto pairs = fft_pairs<T>(x, from);
  if constexpr (Paired) {
    fft_stages<T, N, Threads, false, 1, Radices...>(
        x, pairs, lane, roots, [&](auto stage, const auto& source) {
          RfftLastStage<T, N, Threads, 1, stage.radix>{doubled, 0}.run(source, to, lane);
        });
  } else {
    fft_item<T, N, Threads, false, Radices...>(x, x, lane, roots, pairs, x);
    rfft_split<T, N, Threads>(x, doubled, lane, to);
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
