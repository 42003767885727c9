#pragma once
//! section fft_butterfly needs core
// Discrete Fourier transforms of R complex numbers, in place. Real and imaginary parts are separate
// arrays. V is a real type, or, on the host, a vector of several transforms' numbers. The forward
// transform is y_k = sum of x_j exp(-2 pi i j k / R).
template <class T, bool Inverse, class V>
HD_SCALAR void fft_turn_quarter(V& re, V& im) {  // times -i, or i
  const V old = re;
  re = Inverse ? -im : im;
  im = Inverse ? old : -old;
}

template <class T, class V>
HD_SCALAR void fft_sum_difference(V& a, V& b) {
  const V sum = a + b;
  b = a - b;
  a = sum;
}

template <class T, bool Inverse, class V>
HD_SCALAR void fft_two(V& a_re, V& a_im, V& b_re, V& b_im) {
  fft_sum_difference<T>(a_re, b_re);
  fft_sum_difference<T>(a_im, b_im);
}

template <class T, bool Inverse, class V>
HD_SCALAR void fft_four(V (&re)[4], V (&im)[4]) {
  fft_two<T, Inverse>(re[0], im[0], re[2], im[2]);
  fft_two<T, Inverse>(re[1], im[1], re[3], im[3]);
  fft_turn_quarter<T, Inverse>(re[3], im[3]);
  fft_two<T, Inverse>(re[0], im[0], re[1], im[1]);
  fft_two<T, Inverse>(re[2], im[2], re[3], im[3]);
  const V old_re = re[1], old_im = im[1];
  re[1] = re[2];
  im[1] = im[2];
  re[2] = old_re;
  im[2] = old_im;
}

// Multiplies by c - i s; the inverse multiplies by c + i s.
template <class T, bool Inverse, class V>
HD_SCALAR void fft_turn(V& re, V& im, T c, T s) {
  const T sine = Inverse ? -s : s;
  const V old = re;
  re = re * c + im * sine;
  im = im * c - old * sine;
}

template <class T, bool Inverse, class V>
HD_SCALAR void fft_eight(V (&re)[8], V (&im)[8]) {
  V even_re[4] = {re[0], re[2], re[4], re[6]}, even_im[4] = {im[0], im[2], im[4], im[6]};
  V odd_re[4] = {re[1], re[3], re[5], re[7]}, odd_im[4] = {im[1], im[3], im[5], im[7]};
  fft_four<T, Inverse>(even_re, even_im);
  fft_four<T, Inverse>(odd_re, odd_im);
  const T half = static_cast<T>(0.7071067811865476);
  const V sum_1 = odd_re[1] + odd_im[1], difference_1 = odd_im[1] - odd_re[1];
  const V sum_3 = odd_re[3] + odd_im[3], difference_3 = odd_im[3] - odd_re[3];
  if constexpr (Inverse) {
    odd_im[1] = sum_1 * half;
    odd_re[1] = -difference_1 * half;
    odd_re[3] = -sum_3 * half;
    odd_im[3] = -difference_3 * half;
  } else {
    odd_re[1] = sum_1 * half;
    odd_im[1] = difference_1 * half;
    odd_re[3] = difference_3 * half;
    odd_im[3] = -sum_3 * half;
  }
  fft_turn_quarter<T, Inverse>(odd_re[2], odd_im[2]);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    re[k] = even_re[k] + odd_re[k];
    im[k] = even_im[k] + odd_im[k];
    re[k + 4] = even_re[k] - odd_re[k];
    im[k + 4] = even_im[k] - odd_im[k];
  }
}

// A transform of 16: four transforms of 4, multiplication by powers of exp(-2 pi i / 16), and again
// four transforms of 4.
template <class T, bool Inverse, class V>
HD_SCALAR void fft_sixteen(V (&re)[16], V (&im)[16]) {
  const T c = static_cast<T>(0.9238795325112867), s = static_cast<T>(0.3826834323650898);
  const T half = static_cast<T>(0.7071067811865476);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    V part_re[4] = {re[j], re[j + 4], re[j + 8], re[j + 12]};
    V part_im[4] = {im[j], im[j + 4], im[j + 8], im[j + 12]};
    fft_four<T, Inverse>(part_re, part_im);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      re[j + 4 * k] = part_re[k];
      im[j + 4 * k] = part_im[k];
    }
  }
  fft_turn<T, Inverse>(re[5], im[5], c, s);
  fft_turn<T, Inverse>(re[6], im[6], half, half);
  fft_turn<T, Inverse>(re[7], im[7], s, c);
  fft_turn<T, Inverse>(re[9], im[9], half, half);
  fft_turn_quarter<T, Inverse>(re[10], im[10]);
  fft_turn<T, Inverse>(re[11], im[11], -half, half);
  fft_turn<T, Inverse>(re[13], im[13], s, c);
  fft_turn<T, Inverse>(re[14], im[14], -half, half);
  fft_turn<T, Inverse>(re[15], im[15], -c, -s);
  V result_re[16], result_im[16];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    V part_re[4] = {re[4 * k], re[4 * k + 1], re[4 * k + 2], re[4 * k + 3]};
    V part_im[4] = {im[4 * k], im[4 * k + 1], im[4 * k + 2], im[4 * k + 3]};
    fft_four<T, Inverse>(part_re, part_im);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      result_re[k + 4 * m] = part_re[m];
      result_im[k + 4 * m] = part_im[m];
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    re[k] = result_re[k];
    im[k] = result_im[k];
  }
}

// Cosine and sine of 2 pi j / R, for 0 < j <= R / 2.
template <int R>
HD_SCALAR double fft_cosine(int j) {
  if constexpr (R == 3) {
    const double values[] = {-0.5};
    return values[j - 1];
  } else if constexpr (R == 5) {
    const double values[] = {0.30901699437494745, -0.8090169943749475};
    return values[j - 1];
  } else if constexpr (R == 7) {
    const double values[] = {0.6234898018587335, -0.2225209339563144, -0.9009688679024191};
    return values[j - 1];
  } else if constexpr (R == 11) {
    const double values[] = {0.8412535328311812, 0.41541501300188644, -0.14231483827328514,
                             -0.6548607339452851, -0.9594929736144974};
    return values[j - 1];
  } else if constexpr (R == 13) {
    const double values[] = {0.8854560256532099,  0.5680647467311558,  0.12053668025532305,
                             -0.3546048870425356, -0.7485107481711011, -0.970941817426052};
    return values[j - 1];
  }
}
template <int R>
HD_SCALAR double fft_sine(int j) {
  if constexpr (R == 3) {
    const double values[] = {0.8660254037844386};
    return values[j - 1];
  } else if constexpr (R == 5) {
    const double values[] = {0.9510565162951535, 0.5877852522924731};
    return values[j - 1];
  } else if constexpr (R == 7) {
    const double values[] = {0.7818314824680298, 0.9749279121818236, 0.4338837391175581};
    return values[j - 1];
  } else if constexpr (R == 11) {
    const double values[] = {0.5406408174555976, 0.9096319953545183, 0.9898214418809327,
                             0.7557495743542583, 0.28173255684142967};
    return values[j - 1];
  } else if constexpr (R == 13) {
    const double values[] = {0.46472317204376856, 0.8229838658936564, 0.992708874098054,
                             0.9350162426854148,  0.6631226582407952, 0.23931566428755777};
    return values[j - 1];
  }
}

// A transform of an odd prime R. The sums and differences of x_j and x_(R - j) are computed first;
// then all factors are real.
template <class T, int R, bool Inverse, class V>
HD_SCALAR void fft_odd(V (&re)[R], V (&im)[R]) {
  constexpr int half = R / 2;
  V sum_re[half], sum_im[half], difference_re[half], difference_im[half];
  V total_re = re[0], total_im = im[0];
#pragma unroll
  for (int j = 0; j < half; ++j) {
    sum_re[j] = re[j + 1] + re[R - 1 - j];
    sum_im[j] = im[j + 1] + im[R - 1 - j];
    difference_re[j] = re[j + 1] - re[R - 1 - j];
    difference_im[j] = im[j + 1] - im[R - 1 - j];
    total_re = total_re + sum_re[j];
    total_im = total_im + sum_im[j];
  }
#pragma unroll
  for (int k = 1; k <= half; ++k) {
    V cosines_re = re[0], cosines_im = im[0], sines_re = V{}, sines_im = V{};
#pragma unroll
    for (int j = 1; j <= half; ++j) {
      const int at = j * k % R;
      const bool upper = 2 * at > R;
      const int folded = upper ? R - at : at;
      const T c = static_cast<T>(fft_cosine<R>(folded));
      const T sine = static_cast<T>(fft_sine<R>(folded));
      const T s = upper != Inverse ? -sine : sine;
      cosines_re = cosines_re + sum_re[j - 1] * c;
      cosines_im = cosines_im + sum_im[j - 1] * c;
      sines_re = sines_re + difference_im[j - 1] * s;
      sines_im = sines_im + difference_re[j - 1] * s;
    }
    re[k] = cosines_re + sines_re;
    im[k] = cosines_im - sines_im;
    re[R - k] = cosines_re - sines_re;
    im[R - k] = cosines_im + sines_im;
  }
  re[0] = total_re;
  im[0] = total_im;
}

template <class T, int R, bool Inverse, class V>
HD_SCALAR void fft_butterfly(V (&re)[R], V (&im)[R]) {
  if constexpr (R == 2) {
    fft_two<T, Inverse>(re[0], im[0], re[1], im[1]);
  } else if constexpr (R == 4) {
    fft_four<T, Inverse>(re, im);
  } else if constexpr (R == 8) {
    fft_eight<T, Inverse>(re, im);
  } else if constexpr (R == 16) {
    fft_sixteen<T, Inverse>(re, im);
  } else {
    fft_odd<T, R, Inverse>(re, im);
  }
}

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

//! section fft_items_host needs fft_butterfly complex
//! host
// The same functions for one thread of the host, with `Lanes` numbers in a vector. `roots` holds a
// table for each stage but the last: real parts, then imaginary parts. Each is an array over k = 1
// .. R - 1 and, if Span >= Lanes, over p = b / Span, else over all transforms b of the stage.
template <class T, int W>
struct FftVector {
  typedef T Type __attribute__((vector_size(W * sizeof(T))));
};
template <class T>
struct FftVector<T, 1> {
  typedef T Type;
};

template <class V, class T>
inline V fft_vector(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// W transforms with neighbouring q = b % Span and the same p. They share their roots.
template <class T, int W, bool Inverse, int Distance, int Span, int R>
inline void fft_run(const T* from_re, const T* from_im, T* to_re, T* to_im, const T* root_re,
                    const T* root_im, int step) {
  using V = typename FftVector<T, W>::Type;
  V re[R], im[R];
  for (int k = 0; k < R; ++k) {
    re[k] = fft_vector<V>(from_re + k * Distance);
    im[k] = fft_vector<V>(from_im + k * Distance);
  }
  fft_butterfly<T, R, Inverse>(re, im);
  for (int k = 0; k < R; ++k) {
    if (k > 0 && root_re != nullptr) {
      const T c = root_re[(k - 1) * step], s = root_im[(k - 1) * step];
      const V old = re[k];
      re[k] = re[k] * c - im[k] * s;
      im[k] = im[k] * c + old * s;
    }
    __builtin_memcpy(to_re + k * Span, &re[k], sizeof(V));
    __builtin_memcpy(to_im + k * Span, &im[k], sizeof(V));
  }
}

// W transforms with neighbouring b. Each has its own roots and its own destination.
template <class T, int W, bool Inverse, int Count, int Span, int R, bool Last>
inline void fft_spread(const T* from_re, const T* from_im, T* to_re, T* to_im, const T* root_re,
                       const T* root_im, int b) {
  using V = typename FftVector<T, W>::Type;
  V re[R], im[R];
  for (int k = 0; k < R; ++k) {
    re[k] = fft_vector<V>(from_re + b + k * Count);
    im[k] = fft_vector<V>(from_im + b + k * Count);
  }
  fft_butterfly<T, R, Inverse>(re, im);
  T lanes_re[R][W], lanes_im[R][W];
  for (int k = 0; k < R; ++k) {
    if (k > 0 && !Last) {
      const V c = fft_vector<V>(root_re + (k - 1) * Count + b);
      const V s = fft_vector<V>(root_im + (k - 1) * Count + b);
      const V old = re[k];
      re[k] = re[k] * c - im[k] * s;
      im[k] = im[k] * c + old * s;
    }
    __builtin_memcpy(lanes_re[k], &re[k], sizeof(V));
    __builtin_memcpy(lanes_im[k], &im[k], sizeof(V));
  }
  for (int lane = 0; lane < W; ++lane) {
    const int at = (b + lane) % Span + (b + lane) / Span * (Span * R);
    for (int k = 0; k < R; ++k) {
      to_re[at + k * Span] = lanes_re[k][lane];
      to_im[at + k * Span] = lanes_im[k][lane];
    }
  }
}

template <class T, int N, int Lanes, bool Inverse, int Span, int R, int... Rest>
inline void fft_stages(T* from_re, T* from_im, T* to_re, T* to_im, const T* roots,
                       heddle_scalar::complex<T>* result) {
  constexpr int count = N / R, runs = count / Span;
  constexpr bool last = sizeof...(Rest) == 0;
  constexpr int held = Span >= Lanes ? runs : count;  // roots of one k
  const T *root_re = roots, *root_im = roots + (R - 1) * held;
  if constexpr (Span >= Lanes) {
    for (int p = 0; p < runs; ++p) {
      const T* const own_re = last ? nullptr : root_re + p;
      const T* const own_im = last ? nullptr : root_im + p;
      const int from = p * Span, to = from * R;
      int q = 0;
      for (; q + Lanes <= Span; q += Lanes) {
        fft_run<T, Lanes, Inverse, count, Span, R>(from_re + from + q, from_im + from + q,
                                                   to_re + to + q, to_im + to + q, own_re, own_im,
                                                   held);
      }
      for (; q < Span; ++q) {
        fft_run<T, 1, Inverse, count, Span, R>(from_re + from + q, from_im + from + q,
                                               to_re + to + q, to_im + to + q, own_re, own_im,
                                               held);
      }
    }
  } else {
    int b = 0;
    for (; b + Lanes <= count; b += Lanes) {
      fft_spread<T, Lanes, Inverse, count, Span, R, last>(from_re, from_im, to_re, to_im, root_re,
                                                          root_im, b);
    }
    for (; b < count; ++b) {
      fft_spread<T, 1, Inverse, count, Span, R, last>(from_re, from_im, to_re, to_im, root_re,
                                                      root_im, b);
    }
  }
  if constexpr (last) {
    for (int k = 0; k < N; ++k) result[k] = {to_re[k], to_im[k]};
  } else {
    fft_stages<T, N, Lanes, Inverse, Span * R, Rest...>(to_re, to_im, from_re, from_im,
                                                        roots + 2 * (R - 1) * held, result);
  }
}

template <class T, int N, int Lanes, bool Inverse, int... Radices>
inline void fft_item(heddle_scalar::complex<T>* x, heddle_scalar::complex<T>*, const T* roots) {
  if constexpr (sizeof...(Radices) > 0) {
    alignas(64) T re[N], im[N], other_re[N], other_im[N];
    for (int j = 0; j < N; ++j) {
      re[j] = x[j].re;
      im[j] = x[j].im;
    }
    fft_stages<T, N, Lanes, Inverse, 1, Radices...>(re, im, other_re, other_im, roots, x);
  }
}

template <class T>
inline heddle_scalar::complex<T> fft_root(const T* roots, long long k) {
  return {roots[2 * k], roots[2 * k + 1]};
}

template <class T, int N, int Lanes, bool Inverse, int Bits, int... Radices>
inline void fft_turned_item(heddle_scalar::complex<T>* x, heddle_scalar::complex<T>* y,
                            const T* roots, const T* low, const T* high, long long item) {
  fft_item<T, N, Lanes, Inverse, Radices...>(x, y, roots);
  for (int k = 0; k < N; ++k) {
    const long long power = item * k;
    x[k] = x[k] * (fft_root(low, power & ((1ll << Bits) - 1)) * fft_root(high, power >> Bits));
  }
}

template <class T, int N, int Lanes, int... Radices>
inline void rfft_item(T*, heddle_scalar::complex<T>* x, const T* roots, const T* doubled) {
  using Number = heddle_scalar::complex<T>;
  fft_item<T, N, Lanes, false, Radices...>(x, x, roots);
  const T half = static_cast<T>(0.5);
  for (int k = 0; 2 * k <= N; ++k) {
    const Number a = x[k], b = x[k == 0 ? 0 : N - k];
    const Number even(half * (a.re + b.re), half * (a.im - b.im));
    const Number odd(half * (a.im + b.im), half * (b.re - a.re));
    const Number turned = odd * fft_root(doubled, k);
    x[k] = even + turned;
    if (2 * k < N) x[N - k] = Number(even.re - turned.re, turned.im - even.im);
  }
}

template <class T, int N, int Lanes, int... Radices>
inline void irfft_item(heddle_scalar::complex<T>* x, T*, const T* roots, const T* doubled) {
  using Number = heddle_scalar::complex<T>;
  for (int k = 0; 2 * k <= N; ++k) {
    Number a = x[k], b = x[N - k];
    if (k == 0) a.im = b.im = 0;
    const Number even(a.re + b.re, a.im - b.im);
    const Number root = fft_root(doubled, k);
    const Number odd = Number(a.re - b.re, a.im + b.im) * Number(root.re, -root.im);
    x[k] = Number(even.re - odd.im, even.im + odd.re);
    if (0 < k && 2 * k < N) x[N - k] = Number(even.re + odd.im, odd.re - even.im);
  }
  fft_item<T, N, Lanes, true, Radices...>(x, x, roots);
}

template <class T, int Length, int M, int Lanes, int... Radices>
inline void chirp_item(heddle_scalar::complex<T>* x, heddle_scalar::complex<T>*, const T* roots,
                       const T* inverse_roots, const T* chirp, const T* filter) {
  for (int k = 0; k < Length; ++k) x[k] = x[k] * fft_root(chirp, k);
  for (int k = Length; k < M; ++k) x[k] = heddle_scalar::complex<T>(0);
  fft_item<T, M, Lanes, false, Radices...>(x, x, roots);
  for (int k = 0; k < M; ++k) x[k] = x[k] * fft_root(filter, k);
  fft_item<T, M, Lanes, true, Radices...>(x, x, inverse_roots);
  for (int k = 0; k < Length; ++k) x[k] = x[k] * fft_root(chirp, k);
}
