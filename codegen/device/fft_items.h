#pragma once
//! section fft_items needs fft_butterfly complex shared padded item_source
// Transforms of one item by `Threads` threads of a block. `lane` is the thread's index among them.
// Every thread of the block calls these functions. The item is in shared memory, and the result
// replaces it. `roots` holds, for each stage but the last, roots of unity whose powers its results
// are multiplied by, or their conjugates for the inverse, as FftRoots says: pairs of real and
// imaginary part. Neighbouring threads read neighbouring pairs.
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

// Elements come from an array in shared memory or a function of their index, and go to an array or
// a function of their index and value. A function is for memory that no other thread of the block
// uses.
template <class T>
__device__ __forceinline__ heddle_scalar::complex<T> fft_get(FftNumbers<T> x, int i) {
  return fft_load<T>(x, i);
}
template <class T, class From>
__device__ __forceinline__ heddle_scalar::complex<T> fft_get(const From& from, int i) {
  return from(i);
}
template <class T>
__device__ __forceinline__ void fft_put(FftNumbers<T> x, int i, heddle_scalar::complex<T> value) {
  fft_store<T>(x, i, value);
}
template <class T, class To>
__device__ __forceinline__ void fft_put(const To& to, int i, heddle_scalar::complex<T> value) {
  to(i, value);
}
template <class T, class X>
inline constexpr bool in_shared = heddle_scalar::is_same<X, FftNumbers<T>>;

template <class T>
__device__ __forceinline__ heddle_scalar::complex<T> fft_root(const T* roots, long long k) {
  return {roots[2 * k], roots[2 * k + 1]};
}

// What becomes of the R results of a butterfly, before `put` gets each: nothing.
struct FftKeep {
  template <class T, int R, class Put>
  __device__ __forceinline__ void operator()(const T (&re)[R], const T (&im)[R], int, int,
                                             const Put& put) const {
#pragma unroll
    for (int k = 0; k < R; ++k) put(k, heddle_scalar::complex<T>(re[k], im[k]));
  }
};

// Multiplies them by first * s^k. `step` gives s^k for k = 1, 2, 4 and 8; the others are products
// of these. Without First, `first` is 1.
template <bool First, class T, int R, class Step, class Put>
__device__ __forceinline__ void fft_multiply_powers(const T (&re)[R], const T (&im)[R],
                                                    heddle_scalar::complex<T> first,
                                                    const Step& step, const Put& put) {
  using Number = heddle_scalar::complex<T>;
  constexpr int top = R > 8 ? 8 : R > 4 ? 4 : R > 2 ? 2 : 1;
  const Number highest = step(top);
  Number turns[top], steps[top];
  turns[0] = first;
#pragma unroll
  for (int k = 0; k < top; ++k) {
    const int bit = k & -k;
    if (k > 0 && k == bit) steps[k] = step(k);
    if (k > 0) turns[k] = !First && k == bit ? steps[bit] : turns[k - bit] * steps[bit];
    const Number one(re[k], im[k]);
    put(k, First || k > 0 ? one * turns[k] : one);
    if (k + top < R) {
      const Number other(re[k + top], im[k + top]);
      put(k + top, other * (First || k > 0 ? turns[k] * highest : highest));
    }
  }
}

// Multiplies them by powers of a root for each p. The table has `Runs` of them for each k = 1, 2, 4
// and 8 below R. To load all powers would take as long as to load the elements.
template <class T, int Runs>
struct FftRoots {
  const T* roots;

  template <int R, class Put>
  __device__ __forceinline__ void operator()(const T (&re)[R], const T (&im)[R], int p, int,
                                             const Put& put) const {
    const auto step = [&](int k) { return fft_root(roots, (k == 8 ? 3 : k / 2) * Runs + p); };
    fft_multiply_powers<false>(re, im, heddle_scalar::complex<T>(1, 0), step, put);
  }
};

// Multiplies number q + Step * k of the whole transform by w^(item * (q + Step * k)), where w is a
// root of unity, given by two tables: `low` holds w^j for j < 2^Bits, and `high` holds
// w^(j * 2^Bits).
template <class T, int Step, int Bits>
struct FftTurn {
  using Number = heddle_scalar::complex<T>;
  const T *low, *high;
  long long item;

  __device__ __forceinline__ Number power(long long exponent) const {
    return fft_root(low, exponent & ((1ll << Bits) - 1)) * fft_root(high, exponent >> Bits);
  }
  template <int R, class Put>
  __device__ __forceinline__ void operator()(const T (&re)[R], const T (&im)[R], int, int q,
                                             const Put& put) const {
    const auto step = [&](int k) { return power(item * (Step * k)); };
    fft_multiply_powers<true>(re, im, power(item * q), step, put);
  }
};

// One stage of Stockham's algorithm: N / R transforms of R elements, which are N / R apart. `Span`
// is the product of the R of all earlier stages. Every thread loads its elements into registers
// before any thread stores to the same array. Indices are unsigned: their quotients are shifts.
template <class T, int N, int Threads, bool Inverse, int Span, int R, class From, class To,
          class Turn>
__device__ __forceinline__ void fft_stage(const From& from, const To& to, int lane,
                                          const Turn& turn) {
  constexpr int count = N / R, each = (count + Threads - 1) / Threads;
  T re[each][R], im[each][R];
#pragma unroll
  for (int j = 0; j < each; ++j) {
    const int b = j * Threads + lane;
    if (count % Threads == 0 || b < count) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const heddle_scalar::complex<T> one = fft_get<T>(from, b + k * count);
        re[j][k] = one.re;
        im[j][k] = one.im;
      }
    }
  }
  if constexpr (in_shared<T, From> && in_shared<T, To>) block_barrier();
#pragma unroll
  for (int j = 0; j < each; ++j) {
    const unsigned int b = j * Threads + lane;
    if (count % Threads == 0 || b < count) {
      fft_butterfly<T, R, Inverse>(re[j], im[j]);
      const int p = b / Span, q = b % Span;
      turn(re[j], im[j], p, q, [&](int k, heddle_scalar::complex<T> value) {
        fft_put<T>(to, q + Span * (R * p + k), value);
      });
    }
  }
  if constexpr (in_shared<T, To>) block_barrier();
}

template <int Span, int R>
struct FftLast {
  static constexpr int span = Span, radix = R;
};

// All stages. `last(FftLast<Span, R>{}, from)` is the last one.
template <class T, int N, int Threads, bool Inverse, int Span, int R, int... Rest, class From,
          class Last>
__device__ __forceinline__ void fft_stages(FftNumbers<T> x, const From& from, int lane,
                                           const T* roots, const Last& last) {
  if constexpr (sizeof...(Rest) == 0) {
    last(FftLast<Span, R>{}, from);
  } else {
    constexpr int runs = N / R / Span, held = R > 8 ? 4 : R > 4 ? 3 : R > 2 ? 2 : 1;
    const FftRoots<T, runs> turn{roots};
    if constexpr (is_item_source<From>) {
      fft_stage<T, N, Threads, Inverse, Span, R>(from.make, from.item, from.lane, turn);
    } else {
      fft_stage<T, N, Threads, Inverse, Span, R>(from, x, lane, turn);
    }
    fft_stages<T, N, Threads, Inverse, Span * R, Rest...>(x, x, lane, roots + 2 * held * runs,
                                                          last);
  }
}

// All stages. `turn` is applied to the results of the last one.
template <class T, int N, int Threads, bool Inverse, int... Radices, class From, class To,
          class Turn>
__device__ __forceinline__ void fft_all_stages(FftNumbers<T> x, const From& from, const To& to,
                                               int lane, const T* roots, const Turn& turn) {
  fft_stages<T, N, Threads, Inverse, 1, Radices...>(
      x, from, lane, roots, [&](auto stage, const auto& source) {
        fft_stage<T, N, Threads, Inverse, stage.span, stage.radix>(source, to, lane, turn);
      });
}

template <class T, int N, int Threads, bool Inverse, int... Radices, class From, class To>
__device__ __forceinline__ void fft_item(FftNumbers<T> x, FftNumbers<T>, int lane, const T* roots,
                                         const From& from, const To& to) {
  if constexpr (sizeof...(Radices) > 0) {
    fft_all_stages<T, N, Threads, Inverse, Radices...>(x, from, to, lane, roots, FftKeep{});
  } else if constexpr (!in_shared<T, From> || !in_shared<T, To>) {
    if (lane == 0) fft_put<T>(to, 0, fft_get<T>(from, 0));
    block_barrier();
  }
}
template <class T, int N, int Threads, bool Inverse, int... Radices>
__device__ __forceinline__ void fft_item(FftNumbers<T> x, FftNumbers<T> y, int lane,
                                         const T* roots) {
  fft_item<T, N, Threads, Inverse, Radices...>(x, y, lane, roots, x, x);
}

template <int R, int... Rest>
constexpr int last_radix() {
  if constexpr (sizeof...(Rest) == 0) {
    return R;
  } else {
    return last_radix<Rest...>();
  }
}

// Element k of the result is multiplied by w^(item * k), as FftTurn says.
template <class T, int N, int Threads, bool Inverse, int Bits, int... Radices, class From, class To>
__device__ __forceinline__ void fft_turned_item(FftNumbers<T> x, FftNumbers<T>, int lane,
                                                const T* roots, const T* low, const T* high,
                                                long long item, const From& from, const To& to) {
  using Turn = FftTurn<T, N / last_radix<Radices...>(), Bits>;
  fft_all_stages<T, N, Threads, Inverse, Radices...>(x, from, to, lane, roots,
                                                     Turn{low, high, item});
}

template <int R, int... Rest>
constexpr int first_radix() {
  return R;
}

// Half of a transform of 2 N elements: its elements 2 k + part are the transform of N elements
// (x_i + x_(N + i)), or of (x_i - x_(N + i)) w^i with w = exp(-2 pi i / (2 N)). `halved` holds w^j
// for j < Count, and then w^(j * Count). `All` are functions of the index of an element x_i.
template <class T, int N, int Count, class All>
struct FftHalf {
  using Number = heddle_scalar::complex<T>;
  const All& all;
  const T* halved;
  int part;

  __device__ __forceinline__ Number operator()(int i) const {
    const Number one = all(i), other = all(i + N);
    const unsigned int u = i;
    const T sign = static_cast<T>(1 - 2 * part);
    const Number sum(one.re + sign * other.re, one.im + sign * other.im);
    Number turn(1, 0);
    if (part > 0) turn = fft_root(halved, u % Count) * fft_root(halved, Count + u / Count);
    return sum * turn;
  }
};

template <class T, int N, int Threads, bool Inverse, int... Radices, class From, class To>
__device__ __forceinline__ void fft_half_item(FftNumbers<T> x, FftNumbers<T>, int lane,
                                              const T* roots, const T* halved, int part,
                                              const From& from, const To& to) {
  constexpr int count = N / first_radix<Radices...>();
  const FftHalf<T, N, count, From> half{from, halved, part};
  const auto put = [&](int k, heddle_scalar::complex<T> one) { to(2 * k + part, one); };
  fft_all_stages<T, N, Threads, Inverse, Radices...>(x, half, put, lane, roots, FftKeep{});
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
