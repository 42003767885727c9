#pragma once
//! section matrix_numbers needs bits
// What factorisations need of real numbers. The functions for complex numbers are found by their
// arguments.
template <class T>
struct MatrixNumber {
  using Part = T;
};
template <class T>
using MatrixPart = typename MatrixNumber<T>::Part;

// NaN, which stands for every element of a result that does not exist.
template <class Part>
HD_SCALAR Part matrix_nan() {
  if constexpr (sizeof(Part) == 4) {
    return heddle_scalar::float_of(0x7fc00000u);
  } else {
    return heddle_scalar::float_of(0x7ff8000000000000ull);
  }
}

// The absolute value; of a complex number, the sum of those of its parts, as LAPACK compares them.
template <class T>
HD_SCALAR T matrix_size(T x) {
  return x < 0 ? -x : x;
}
template <class T>
HD_SCALAR T matrix_real(T x) {
  return x;
}
template <class T>
HD_SCALAR T matrix_conjugate(T x) {
  return x;
}
// c + a * b.
template <class T>
HD_SCALAR T matrix_add_product(T c, T a, T b) {
  return c + a * b;
}
// c - a * b.
template <class T>
HD_SCALAR T matrix_subtract(T c, T a, T b) {
  return c - a * b;
}
// a / r for a real number r.
template <class T>
HD_SCALAR T matrix_divide(T a, T r) {
  return a / r;
}
// a / b.
template <class T>
HD_SCALAR T matrix_quotient(T a, T b) {
  return a / b;
}

// The reciprocal of a pivot. `exact` is false if it overflows or loses digits as a subnormal
// number: then quotients must be computed by division, otherwise by a product, as in LAPACK.
template <class T>
HD_SCALAR T matrix_reciprocal(T pivot, bool& exact) {
  using Part = MatrixPart<T>;
  const T reciprocal = T(1) / pivot;
  const Part size = matrix_size(reciprocal);
  if constexpr (sizeof(Part) == 4) {
    exact = size >= heddle_scalar::float_of(0x00800000u) &&
            size <= heddle_scalar::float_of(0x7e800000u);
  } else {
    exact = size >= heddle_scalar::float_of(0x0010000000000000ull) &&
            size <= heddle_scalar::float_of(0x7fd0000000000000ull);
  }
  return reciprocal;
}

//! section complex_matrix_numbers needs matrix_numbers complex_quotient
template <class T>
struct MatrixNumber<heddle_scalar::complex<T>> {
  using Part = T;
};
namespace heddle_scalar {
template <class T>
HD_SCALAR T matrix_size(complex<T> x) {
  return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
}
template <class T>
HD_SCALAR T matrix_real(complex<T> x) {
  return x.re;
}
template <class T>
HD_SCALAR complex<T> matrix_conjugate(complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
HD_SCALAR complex<T> matrix_add_product(complex<T> c, complex<T> a, complex<T> b) {
  return {c.re + a.re * b.re - a.im * b.im, c.im + a.re * b.im + a.im * b.re};
}
template <class T>
HD_SCALAR complex<T> matrix_subtract(complex<T> c, complex<T> a, complex<T> b) {
  return {c.re - a.re * b.re + a.im * b.im, c.im - a.re * b.im - a.im * b.re};
}
template <class T>
HD_SCALAR complex<T> matrix_divide(complex<T> a, T r) {
  return {a.re / r, a.im / r};
}
template <class T>
HD_SCALAR complex<T> matrix_quotient(complex<T> a, complex<T> b) {
  return quotient(a, b);
}
}  // namespace heddle_scalar

//! section complex_matrix_items needs complex_matrix_numbers matrix_items
// Section matrix_items for complex matrices.

//! section matrix_items needs matrix_numbers shared padded warp sqrt limits
// Factorisations of one small matrix by the `Width` lanes of a part of a warp, whose number within
// it is `lane`. Every thread of the block calls these functions. A lane holds a row of the matrix
// in registers, so a matrix has at most `Width` rows. Matrices are in shared memory, with an
// element after every line of 128 bytes.
template <class T>
__device__ __forceinline__ T matrix_load(SharedArray<T> a, int i) {
  return shared_load(a, padded<T, sizeof(T)>(i));
}
template <class T>
__device__ __forceinline__ void matrix_store(SharedArray<T> a, int i, T value) {
  shared_store(a, padded<T, sizeof(T)>(i), value);
}

// The index of element (i, j) of a matrix in C order, or of its transpose.
template <int Rows, int Columns, bool Transposed>
__device__ __forceinline__ int matrix_index(int i, int j) {
  return Transposed ? j * Rows + i : i * Columns + j;
}

// The factor of an n by n matrix, in its place: a = l l^H, or a = u^H u. Of the matrix, one
// triangle is read; that of the factor is 0. `status`: the order of the first leading minor that is
// not positive, or 0. In that case the factor is NaN.
template <class T, int N, int Width, bool Upper>
__device__ __forceinline__ void cholesky_item(SharedArray<T> a, SharedArray<T>,
                                              SharedArray<int> status, int lane) {
  using Part = MatrixPart<T>;
  T row[N];  // of l
#pragma unroll
  for (int j = 0; j < N; ++j) {
    row[j] = T(0);
    if (j <= lane && lane < N) {
      const T one = matrix_load(a, matrix_index<N, N, Upper>(lane, j));
      row[j] = Upper ? matrix_conjugate(one) : one;
    }
  }
  int failed = 0;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const Part diagonal = shuffle(matrix_real(row[j]), j, Width);
    if (!(diagonal > 0) && failed == 0) failed = j + 1;
    const Part root = heddle_scalar::sqrt(diagonal);
    if (lane >= j) row[j] = lane == j ? T(root) : matrix_divide(row[j], root);
#pragma unroll
    for (int k = j + 1; k < N; ++k) {
      const T other = matrix_conjugate(shuffle(row[j], k, Width));
      if (lane >= k) row[k] = matrix_subtract(row[k], row[j], other);
    }
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const T one = failed != 0 ? T(matrix_nan<Part>()) : Upper ? matrix_conjugate(row[j]) : row[j];
    if (lane < N) matrix_store(a, matrix_index<N, N, Upper>(lane, j), one);
  }
  if (lane == 0) shared_store(status, 0, failed);
  block_barrier();
}

// What a lane knows after Gaussian elimination with partial pivoting.
struct MatrixPivots {
  int place;   // of its row among the rows of the factors
  int source;  // the lane whose row has place `lane`
  int pivot;   // the row that step `lane` exchanged with its own, counted from 1
  int status;  // the first column without a pivot, counted from 1, or 0
};

// The lane and place of the pivot in column j: the first of the largest numbers, in the order of
// places from j on. As in LAPACK, NaN is a pivot only at place j.
template <int Width, class Part>
__device__ __forceinline__ int matrix_pivot(Part size, int place, int lane, int j) {
  if (size != size) size = place == j ? heddle_scalar::greatest<Part>() : static_cast<Part>(-1);
  if (place < j) size = static_cast<Part>(-2);
  int best = place * 32 + lane;
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) {
    const Part other_size = shuffle_xor(size, mask, Width);
    const int other = shuffle_xor(best, mask, Width);
    const bool better = other_size > size || (other_size == size && other < best);
    size = better ? other_size : size;
    best = better ? other : best;
  }
  return best;
}

template <class T, int Rows, int Columns, int Width>
__device__ __forceinline__ MatrixPivots matrix_eliminate(T (&row)[Columns], int lane) {
  constexpr int steps = Rows < Columns ? Rows : Columns;
  MatrixPivots made = {lane, lane, 0, 0};
#pragma unroll
  for (int j = 0; j < steps; ++j) {
    // Lanes without a row have a place behind all rows, and never the largest number.
    const auto size = lane < Rows ? matrix_size(row[j]) : static_cast<MatrixPart<T>>(-2);
    const int best = matrix_pivot<Width>(size, made.place, lane, j);
    const int from = best % 32, place = best / 32;
    if (lane == j) {
      made.source = from;
      made.pivot = place + 1;
    }
    made.place = lane == from ? j : made.place == j ? place : made.place;
    const T head = shuffle(row[j], from, Width);
    const bool regular = matrix_size(head) != 0;
    if (!regular && made.status == 0) made.status = j + 1;
    const bool below = made.place > j && regular;
    if (below) row[j] = matrix_quotient(row[j], head);
#pragma unroll
    for (int k = j + 1; k < Columns; ++k) {
      const T other = shuffle(row[k], from, Width);
      if (below) row[k] = matrix_subtract(row[k], row[j], other);
    }
  }
  return made;
}

// The factors of a matrix, in its place, the pivots and the status.
template <class T, int Rows, int Columns, int Width, bool Transposed>
__device__ __forceinline__ MatrixPivots matrix_factorize(SharedArray<T> a, SharedArray<int> pivots,
                                                         SharedArray<int> status, int lane) {
  constexpr int steps = Rows < Columns ? Rows : Columns;
  T row[Columns];
#pragma unroll
  for (int j = 0; j < Columns; ++j)
    row[j] = lane < Rows ? matrix_load(a, matrix_index<Rows, Columns, Transposed>(lane, j)) : T(0);
  const MatrixPivots made = matrix_eliminate<T, Rows, Columns, Width>(row, lane);
  warp_barrier();
#pragma unroll
  for (int j = 0; j < Columns; ++j) {
    if (lane < Rows)
      matrix_store(a, matrix_index<Rows, Columns, Transposed>(made.place, j), row[j]);
  }
  if (lane < steps) shared_store(pivots, lane, made.pivot);
  if (lane == 0) shared_store(status, 0, made.status);
  return made;
}

// `a` holds the transpose of the matrix, then that of its factors.
template <class T, int Rows, int Columns, int Width>
__device__ __forceinline__ void lu_item(SharedArray<T> a, SharedArray<T>, SharedArray<int> pivots,
                                        SharedArray<int> status, int lane) {
  matrix_factorize<T, Rows, Columns, Width, true>(a, pivots, status, lane);
  block_barrier();
}

// Solves a x = b for `Sides` right-hand sides, which are rows in memory: a lane solves for one,
// then for the next. `Transposed`: `a` holds the transpose of the matrix. NaN solves systems
// without a solution.
template <class T, int N, int Sides, int Width, bool Transposed>
__device__ __forceinline__ void solve_item(SharedArray<T> a, SharedArray<T> b, SharedArray<T>,
                                           SharedArray<T>, SharedArray<int> pivots,
                                           SharedArray<int> status, int lane) {
  const MatrixPivots made = matrix_factorize<T, N, N, Width, Transposed>(a, pivots, status, lane);
  warp_barrier();
  for (int first = 0; first < Sides; first += Width) {
    const int side = first + lane;
    const bool own = side < Sides;
    T x[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int from = shuffle(made.source, i, Width);
      x[i] = own ? matrix_load(b, side * N + from) : T(0);
    }
    if (!own) continue;
#pragma unroll
    for (int j = 0; j < N; ++j) {
#pragma unroll
      for (int i = j + 1; i < N; ++i)
        x[i] = matrix_subtract(x[i], matrix_load(a, matrix_index<N, N, Transposed>(i, j)), x[j]);
    }
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
      x[j] = matrix_quotient(x[j], matrix_load(a, matrix_index<N, N, Transposed>(j, j)));
#pragma unroll
      for (int i = 0; i < j; ++i)
        x[i] = matrix_subtract(x[i], matrix_load(a, matrix_index<N, N, Transposed>(i, j)), x[j]);
    }
#pragma unroll
    for (int i = 0; i < N; ++i)
      matrix_store(b, side * N + i, made.status == 0 ? x[i] : T(matrix_nan<MatrixPart<T>>()));
  }
  block_barrier();
}

//! section determinant_numbers needs matrix_numbers log
// The factor of a determinant's sign, for complex numbers its phase, and of its absolute value.
template <class T>
HD_SCALAR T matrix_sign(T x) {
  return x > 0 ? static_cast<T>(1) : x < 0 ? static_cast<T>(-1) : x;
}
template <class T>
HD_SCALAR T matrix_logarithm(T x) {
  return heddle_scalar::log(matrix_size(x));
}

//! section complex_determinant_numbers needs determinant_numbers complex_absolute complex_sign
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> matrix_sign(complex<T> x) {
  return sign(x);
}
// The absolute value of small numbers, which may be subnormal, is that of larger ones.
template <class T>
HD_SCALAR T matrix_logarithm(complex<T> x) {
  constexpr T large = static_cast<T>(0x1p64), logarithm = static_cast<T>(0x1.62e42fefa39efp5);
  const bool small = matrix_size(x) < 1 / large;
  return log(absolute(small ? x * complex<T>(large) : x)) - (small ? logarithm : static_cast<T>(0));
}
}  // namespace heddle_scalar

//! section determinant_items needs matrix_items determinant_numbers
// `a` holds the transpose of the matrix. A singular matrix has sign 0 and logarithm -infinity.
template <class T, int N, int Width>
__device__ __forceinline__ void slogdet_item(SharedArray<T> a, SharedArray<T> sign,
                                             SharedArray<MatrixPart<T>> logarithm, int lane) {
  T row[N];
#pragma unroll
  for (int j = 0; j < N; ++j)
    row[j] = lane < N ? matrix_load(a, matrix_index<N, N, true>(lane, j)) : T(0);
  const MatrixPivots made = matrix_eliminate<T, N, N, Width>(row, lane);
  T pivot = T(1);
#pragma unroll
  for (int j = 0; j < N; ++j) pivot = made.place == j ? row[j] : pivot;
  T phase = T(1);
  MatrixPart<T> sum = 0;
  if (lane < N) {
    phase = matrix_sign(pivot);
    if (made.pivot != lane + 1) phase = -phase;
    sum = matrix_logarithm(pivot);
  }
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) {
    phase = phase * shuffle_xor(phase, mask, Width);
    sum = sum + shuffle_xor(sum, mask, Width);
  }
  if (lane == 0) {
    const bool regular = made.status == 0;
    shared_store(sign, 0, regular ? phase : T(0));
    shared_store(logarithm, 0, regular ? sum : -heddle_scalar::greatest<MatrixPart<T>>());
  }
  block_barrier();
}

//! section complex_determinant_items needs complex_determinant_numbers complex_matrix_numbers determinant_items
// Section determinant_items for complex matrices.
