#pragma once
//! section fft_stages_host needs fft_butterfly
//! host
// Stages of a transform by one thread of the host, with `Lanes` numbers in a vector. `roots` holds
// a table for each stage but the last: real parts, then imaginary parts. Each is an array over k =
// 1
// .. R - 1 and, if a vector of transforms has one p = b / Span, over p, else over all transforms b
// of the stage.
template <class T, int W>
struct FftVector {
  typedef T Type __attribute__((vector_size(W * sizeof(T))));
};
template <class T>
struct FftVector<T, 1> {
  typedef T Type;
};

template <int... I>
struct FftIndices {};
template <int W, int... I>
struct FftCount {
  using Type = typename FftCount<W - 1, W - 1, I...>::Type;
};
template <int... I>
struct FftCount<0, I...> {
  using Type = FftIndices<I...>;
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

// Exchanges lanes of vectors `Step` apart, so that lane bit and vector bit change places.
template <int Step, class V, int... I>
inline void fft_exchange(V& a, V& b, FftIndices<I...>) {
  constexpr int width = sizeof...(I);
  const V low = __builtin_shufflevector(a, b, ((I & Step) == 0 ? I : width + I - Step)...);
  b = __builtin_shufflevector(a, b, ((I & Step) == 0 ? I + Step : width + I)...);
  a = low;
}

// Transposes blocks of R x R numbers, R a power of two: then lane k of vector j, in the block g, is
// what lane j of vector k was there.
template <int W, int R, int Step = 1, class V>
inline void fft_transpose(V (&v)[R]) {
  if constexpr (Step < R) {
    for (int i = 0; i < R; ++i) {
      if ((i & Step) == 0) fft_exchange<Step>(v[i], v[i + Step], typename FftCount<W>::Type());
    }
    fft_transpose<W, R, 2 * Step>(v);
  }
}

// Stores the results of W transforms with neighbouring b, the first of a run, in runs of Span.
template <class T, int W, int Span, int R, class V>
inline void fft_store_spread(T* to, V (&v)[R], int b) {
  if constexpr (Span == 1 && (R & (R - 1)) == 0 && W % R == 0 && W > 1) {
    fft_transpose<W, R>(v);
    for (int k = 0; k < R; ++k) {
      T lanes[W];
      __builtin_memcpy(lanes, &v[k], sizeof(V));
      for (int g = 0; g < W; g += R)
        __builtin_memcpy(to + (b + g + k) * R, lanes + g, R * sizeof(T));
    }
  } else if constexpr (W % Span == 0) {
    for (int k = 0; k < R; ++k) {
      T lanes[W];
      __builtin_memcpy(lanes, &v[k], sizeof(V));
      for (int g = 0; g < W; g += Span)
        __builtin_memcpy(to + (b + g) * R + k * Span, lanes + g, Span * sizeof(T));
    }
  } else {
    T lanes[R][W];
    for (int k = 0; k < R; ++k) __builtin_memcpy(lanes[k], &v[k], sizeof(V));
    for (int lane = 0; lane < W; ++lane) {
      const int at = (b + lane) % Span + (b + lane) / Span * (Span * R);
      for (int k = 0; k < R; ++k) to[at + k * Span] = lanes[k][lane];
    }
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
  for (int k = 1; k < R && !Last; ++k) {
    const V c = fft_vector<V>(root_re + (k - 1) * Count + b);
    const V s = fft_vector<V>(root_im + (k - 1) * Count + b);
    const V old = re[k];
    re[k] = re[k] * c - im[k] * s;
    im[k] = im[k] * c + old * s;
  }
  fft_store_spread<T, W, Span>(to_re, re, b);
  fft_store_spread<T, W, Span>(to_im, im, b);
}

// Where the vector of W numbers after the one at `at` begins, of `Count` numbers; at least Count
// after the last. If W does not divide Count, the last vector overlaps the one before it, and
// computes the same results again.
template <int Count, int W>
constexpr int fft_next(int at) {
  return at + W < Count && at + 2 * W > Count ? Count - W : at + W;
}

// The stages exchange the arrays: the result is in `to` after an odd number of stages.
template <class T, int N, int Lanes, bool Inverse, int Span, int R, int... Rest>
inline void fft_stages(T* from_re, T* from_im, T* to_re, T* to_im, const T* roots) {
  constexpr int count = N / R, runs = count / Span;
  constexpr bool last = sizeof...(Rest) == 0;
  constexpr bool in_runs = Span >= Lanes || (2 * Span >= Lanes && count >= Lanes);
  constexpr int held = in_runs ? runs : count;  // roots of one k
  const T *root_re = roots, *root_im = roots + (R - 1) * held;
  if constexpr (in_runs) {
    // A vector that is longer than its run is stored before the run behind it, or before the end.
    for (int p = 0; p < runs; ++p) {
      const T* const own_re = last ? nullptr : root_re + p;
      const T* const own_im = last ? nullptr : root_im + p;
      const int from = p * Span, to = from * R;
      for (int q = 0; q < Span; q = fft_next<Span, Lanes>(q)) {
        fft_run<T, Lanes, Inverse, count, Span, R>(from_re + from + q, from_im + from + q,
                                                   to_re + to + q, to_im + to + q, own_re, own_im,
                                                   held);
      }
    }
  } else {
    constexpr int width = count < Lanes ? 1 : Lanes;
    for (int b = 0; b < count; b = fft_next<count, width>(b)) {
      fft_spread<T, width, Inverse, count, Span, R, last>(from_re, from_im, to_re, to_im, root_re,
                                                          root_im, b);
    }
  }
  if constexpr (!last) {
    fft_stages<T, N, Lanes, Inverse, Span * R, Rest...>(to_re, to_im, from_re, from_im,
                                                        roots + 2 * (R - 1) * held);
  }
}
