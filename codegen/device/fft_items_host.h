#pragma once
//! section fft_items_host needs fft_stages_host complex
//! host
// The functions of fft_items.h for one thread of the host.
// The numbers of an item twice, so that a stage can read one copy and write the other. A vector
// may reach beyond the end, by less than `Beyond`.
template <class T, int N, int Beyond = 0>
struct FftParts {
  alignas(64) T re[2][N + Beyond];
  alignas(64) T im[2][N + Beyond];

  void take(const heddle_scalar::complex<T>* x) {
    for (int j = 0; j < N; ++j) {
      re[0][j] = x[j].re;
      im[0][j] = x[j].im;
    }
  }
  // Transforms copy `At`. The result is there after an even number of stages, else in the other.
  template <int Lanes, bool Inverse, int At, int... Radices>
  void transform(const T* roots) {
    if constexpr (sizeof...(Radices) > 0) {
      fft_stages<T, N, Lanes, Inverse, 1, Radices...>(re[At], im[At], re[1 - At], im[1 - At],
                                                      roots);
    }
  }
  void give(int at, heddle_scalar::complex<T>* x) const {
    for (int k = 0; k < N; ++k) x[k] = {re[at][k], im[at][k]};
  }
};

template <class T>
inline heddle_scalar::complex<T> fft_root(const T* roots, long long k) {
  return {roots[2 * k], roots[2 * k + 1]};
}

// Multiplies W numbers from number k on by the powers k, k + 1 .. of a root of unity: `first` is
// power k, and c + i s are the powers 0 .. W - 1.
template <class T, int W>
inline void fft_turn_run(T* re, T* im, heddle_scalar::complex<T> first, const T* c, const T* s) {
  using V = typename FftVector<T, W>::Type;
  const V low_re = fft_vector<V>(c), low_im = fft_vector<V>(s);
  const V turn_re = low_re * first.re - low_im * first.im;
  const V turn_im = low_re * first.im + low_im * first.re;
  const V old_re = fft_vector<V>(re), old_im = fft_vector<V>(im);
  const V new_re = old_re * turn_re - old_im * turn_im;
  const V new_im = old_re * turn_im + old_im * turn_re;
  __builtin_memcpy(re, &new_re, sizeof(V));
  __builtin_memcpy(im, &new_im, sizeof(V));
}

// Transforms N numbers in place: each stage works on all of them. Uses 4 N numbers on the stack.
template <class T, int N, int Lanes, bool Inverse, int... Radices>
struct FftShort {
  static void run(heddle_scalar::complex<T>* x, const T* roots) {
    FftParts<T, N, Lanes> parts;
    parts.take(x);
    parts.template transform<Lanes, Inverse, 0, Radices...>(roots);
    parts.give(sizeof...(Radices) % 2, x);
  }
};

template <int... Radices>
struct FftRadices {};

// The numbers in the table of the roots of N numbers.
template <int N, int Span, int R, int... Rest>
constexpr int fft_root_count() {
  if constexpr (sizeof...(Rest) == 0) {
    return 0;
  } else {
    return 2 * (R - 1) * (N / R / Span) + fft_root_count<N, Span * R, Rest...>();
  }
}

// W transforms of N numbers, interleaved: number j of transform w is at j * W + w. All stages share
// the roots of W neighbours.
template <class T, int N, int W, bool Inverse, int... Radices>
struct FftBlock {
  static constexpr int result = sizeof...(Radices) % 2;
  FftParts<T, N * W> parts;

  void transform(const T* roots) {
    fft_stages<T, N * W, W, Inverse, W, Radices...>(parts.re[0], parts.im[0], parts.re[1],
                                                    parts.im[1], roots);
  }
  T* re(int j) { return parts.re[result] + j * W; }
  T* im(int j) { return parts.im[result] + j * W; }
};

// Asks for the lines of W numbers that are stored soon.
template <int W, class Number>
inline void fft_prefetch(Number* to) {
  constexpr int line = 64 / sizeof(Number);
  for (int w = 0; w < W; w += line) __builtin_prefetch(to + w, 1);
}

// Interleaves N numbers of each of W rows, `stride` apart, of which only `Height` exist.
template <class T, int N, int W, int Height>
inline void fft_interleave(T* to, const T* rows, int stride) {
  using V = typename FftVector<T, W>::Type;
  const auto row = [&](int w) { return rows + (w < Height ? w : 0) * stride; };
  int j = 0;
  if constexpr (W > 1 && (W & (W - 1)) == 0) {
    for (; j + W <= N; j += W) {
      V v[W];
      for (int w = 0; w < W; ++w) v[w] = fft_vector<V>(row(w) + j);
      fft_transpose<W, W>(v);
      for (int w = 0; w < W; ++w) __builtin_memcpy(to + (j + w) * W, &v[w], sizeof(V));
    }
  }
  for (; j < N; ++j) {
    for (int w = 0; w < W; ++w) to[j * W + w] = row(w)[j];
  }
}

// Transforms Rows x Columns numbers in place: first the columns, then the rows. It works on W of
// them at a time, which fit the fastest memory. `tables` holds the roots of Rows and of Columns,
// the powers k * w of the root of all for k < Rows and w < W (real parts, then imaginary parts),
// and the powers of that root in two tables of pairs, the first of 2^Bits.
template <class T, int Rows, int Columns, int W, bool Inverse, int Bits, class RowRadices,
          class ColumnRadices>
struct FftLong;
template <class T, int Rows, int Columns, int W, bool Inverse, int Bits, int... RowRadices,
          int... ColumnRadices>
struct FftLong<T, Rows, Columns, W, Inverse, Bits, FftRadices<RowRadices...>,
               FftRadices<ColumnRadices...>> {
  using Number = heddle_scalar::complex<T>;
  static constexpr int row_roots = fft_root_count<Rows, 1, RowRadices...>();
  static constexpr int column_roots = fft_root_count<Columns, 1, ColumnRadices...>();

  // Rows begin in different sets of the cache.
  static constexpr int stride = Columns + W;
  // Rows of the result, whose lines are asked for so many stores before. The second cache has them,
  // and their distances leave few sets of the first for them.
  static constexpr int ahead = 12;

  static void run(Number* x, const T* tables) {
    alignas(64) static thread_local T re[Rows * stride], im[Rows * stride];
    int j = 0, i = 0;
    for (; j + W <= Columns; j += W) columns<W>(x, re, im, tables, j);
    if constexpr (Columns % W != 0) columns<Columns % W>(x, re, im, tables, j);
    for (; i + W <= Rows; i += W) rows<W>(x, re, im, tables + row_roots, i);
    if constexpr (Rows % W != 0) rows<Rows % W>(x, re, im, tables + row_roots, i);
  }

 private:
  // Transforms and turns columns j .. j + Width - 1.
  template <int Width>
  static void columns(const Number* x, T* re, T* im, const T* tables, int j) {
    FftBlock<T, Rows, W, Inverse, RowRadices...> block;
    for (int k = 0; k < Rows; ++k) {
      for (int w = 0; w < Width; ++w) {
        block.parts.re[0][k * W + w] = x[k * Columns + j + w].re;
        block.parts.im[0][k * W + w] = x[k * Columns + j + w].im;
      }
      for (int w = Width; w < W; ++w)
        block.parts.re[0][k * W + w] = block.parts.im[0][k * W + w] = 0;
    }
    block.transform(tables);
    const T* const turns = tables + row_roots + column_roots;
    const T* const low = turns + 2 * Rows * W;
    const T* const high = low + (2 << Bits);
    for (int k = 0; k < Rows; ++k) {
      const int power = j * k;
      const Number first = fft_root(low, power & ((1 << Bits) - 1)) * fft_root(high, power >> Bits);
      fft_turn_run<T, W>(block.re(k), block.im(k), first, turns + k * W, turns + (Rows + k) * W);
      for (int w = 0; w < Width; ++w) {
        re[k * stride + j + w] = block.re(k)[w];
        im[k * stride + j + w] = block.im(k)[w];
      }
    }
  }

  // Transforms rows i .. i + Height - 1, whose results are columns of the result.
  template <int Height>
  static void rows(Number* x, const T* re, const T* im, const T* roots, int i) {
    FftBlock<T, Columns, W, Inverse, ColumnRadices...> block;
    fft_interleave<T, Columns, W, Height>(block.parts.re[0], re + i * stride, stride);
    fft_interleave<T, Columns, W, Height>(block.parts.im[0], im + i * stride, stride);
    block.transform(roots);
    for (int k = 0; k < Columns; ++k) {
      if (k + ahead < Columns) fft_prefetch<Height>(x + (k + ahead) * Rows + i);
      for (int w = 0; w < Height; ++w) {
        x[k * Rows + i + w].re = block.re(k)[w];
        x[k * Rows + i + w].im = block.im(k)[w];
      }
    }
  }
};

// The functions below take such a transform as `Transform`.
template <class T, class Transform>
inline void fft_item(heddle_scalar::complex<T>* x, heddle_scalar::complex<T>*, const T* tables) {
  Transform::run(x, tables);
}

template <class T, int N, int Lanes, bool Inverse, int Bits, int... Radices>
inline void fft_turned_item(heddle_scalar::complex<T>* x, heddle_scalar::complex<T>*,
                            const T* roots, const T* low, const T* high, long long item) {
  constexpr int at = sizeof...(Radices) % 2;
  FftParts<T, N, Lanes> parts;
  parts.take(x);
  parts.template transform<Lanes, Inverse, 0, Radices...>(roots);
  const auto power = [&](long long k) {
    const long long p = item * k;
    return fft_root(low, p & ((1ll << Bits) - 1)) * fft_root(high, p >> Bits);
  };
  alignas(64) T c[Lanes], s[Lanes];
  for (int j = 0; j < Lanes; ++j) {
    const auto one = power(j < N ? j : 0);
    c[j] = one.re;
    s[j] = one.im;
  }
  int k = 0;
  for (; k + Lanes <= N; k += Lanes)
    fft_turn_run<T, Lanes>(parts.re[at] + k, parts.im[at] + k, power(k), c, s);
  for (; k < N; ++k) fft_turn_run<T, 1>(parts.re[at] + k, parts.im[at] + k, power(k), c, s);
  parts.give(at, x);
}

// W numbers from k on and the W numbers from N - k on backwards, of the 2 N real numbers'
// transform: from those of N complex numbers, or back. `turns` are the roots of order 2 N: real
// parts, then imaginary parts.
template <class T, int N, int W>
struct FftMirror {
  using V = typename FftVector<T, W>::Type;
  using Number = heddle_scalar::complex<T>;
  V a_re, a_im, b_re, b_im, c, s;

  FftMirror(const Number* x, const T* turns, int k) {
    T parts[4][W];
    for (int w = 0; w < W; ++w) {
      parts[0][w] = x[k + w].re;
      parts[1][w] = x[k + w].im;
      parts[2][w] = x[N - k - w].re;
      parts[3][w] = x[N - k - w].im;
    }
    a_re = fft_vector<V>(parts[0]);
    a_im = fft_vector<V>(parts[1]);
    b_re = fft_vector<V>(parts[2]);
    b_im = fft_vector<V>(parts[3]);
    c = fft_vector<V>(turns + k);
    s = fft_vector<V>(turns + N / 2 + 1 + k);
  }
  void store(Number* x, int k) const {
    T parts[4][W];
    __builtin_memcpy(parts[0], &a_re, sizeof(V));
    __builtin_memcpy(parts[1], &a_im, sizeof(V));
    __builtin_memcpy(parts[2], &b_re, sizeof(V));
    __builtin_memcpy(parts[3], &b_im, sizeof(V));
    for (int w = 0; w < W; ++w) x[N - k - w] = {parts[2][w], parts[3][w]};
    for (int w = 0; w < W; ++w) x[k + w] = {parts[0][w], parts[1][w]};
  }
  static void forward(Number* x, const T* turns, int k) {
    FftMirror m(x, turns, k);
    const T half = static_cast<T>(0.5);
    const V even_re = (m.a_re + m.b_re) * half, even_im = (m.a_im - m.b_im) * half;
    const V odd_re = (m.a_im + m.b_im) * half, odd_im = (m.b_re - m.a_re) * half;
    const V turned_re = odd_re * m.c - odd_im * m.s, turned_im = odd_re * m.s + odd_im * m.c;
    m.a_re = even_re + turned_re;
    m.a_im = even_im + turned_im;
    m.b_re = even_re - turned_re;
    m.b_im = turned_im - even_im;
    m.store(x, k);
  }
  static void backward(Number* x, const T* turns, int k) {
    FftMirror m(x, turns, k);
    const V even_re = m.a_re + m.b_re, even_im = m.a_im - m.b_im;
    const V old_re = m.a_re - m.b_re, old_im = m.a_im + m.b_im;
    const V odd_re = old_re * m.c + old_im * m.s, odd_im = old_im * m.c - old_re * m.s;
    m.a_re = even_re - odd_im;
    m.a_im = even_im + odd_re;
    m.b_re = even_re + odd_im;
    m.b_im = odd_re - even_im;
    m.store(x, k);
  }
};

template <class T, int N, int Lanes, class Transform>
inline void rfft_item(T*, heddle_scalar::complex<T>* x, const T* tables, const T* turns) {
  Transform::run(x, tables);
  x[N] = x[0];
  int k = 0;
  for (; 2 * (k + Lanes - 1) < N; k += Lanes) FftMirror<T, N, Lanes>::forward(x, turns, k);
  for (; 2 * k <= N; ++k) FftMirror<T, N, 1>::forward(x, turns, k);
}

template <class T, int N, int Lanes, class Transform>
inline void irfft_item(heddle_scalar::complex<T>* x, T*, const T* tables, const T* turns) {
  x[0].im = x[N].im = 0;
  int k = 0;
  for (; 2 * (k + Lanes - 1) < N; k += Lanes) FftMirror<T, N, Lanes>::backward(x, turns, k);
  for (; 2 * k <= N; ++k) FftMirror<T, N, 1>::backward(x, turns, k);
  Transform::run(x, tables);
}

// x[k] times number k of a table of real parts, then of imaginary parts, for k < N.
template <class T, int N>
inline void fft_multiply(heddle_scalar::complex<T>* x, const T* factors) {
  for (int k = 0; k < N; ++k) {
    const T re = x[k].re, im = x[k].im;
    x[k].re = re * factors[k] - im * factors[N + k];
    x[k].im = re * factors[N + k] + im * factors[k];
  }
}

template <class T, int Length, int M, class Forward, class Backward>
inline void chirp_item(heddle_scalar::complex<T>* x, heddle_scalar::complex<T>*, const T* tables,
                       const T* inverse_tables, const T* chirp, const T* filter) {
  fft_multiply<T, Length>(x, chirp);
  for (int k = Length; k < M; ++k) x[k] = heddle_scalar::complex<T>(0);
  Forward::run(x, tables);
  fft_multiply<T, M>(x, filter);
  Backward::run(x, inverse_tables);
  fft_multiply<T, Length>(x, chirp);
}
