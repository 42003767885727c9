#pragma once
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
