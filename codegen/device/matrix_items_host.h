#pragma once
//! section complex_matrix_items_host needs complex_matrix_numbers matrix_items_host
//! host
// Section matrix_items_host for complex matrices.

//! section matrix_items_host needs matrix_numbers sqrt
//! host
// Factorisations of one small matrix by a thread of the host, in C order on its stack, so that
// loops over a row become vector instructions.
template <class T, int Rows, int Columns, bool Transposed>
inline void matrix_read(T (&m)[Rows][Columns], const T* a) {
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Columns; ++j) m[i][j] = a[Transposed ? j * Rows + i : i * Columns + j];
  }
}
template <class T, int Rows, int Columns, bool Transposed>
inline void matrix_write(const T (&m)[Rows][Columns], T* a) {
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Columns; ++j) a[Transposed ? j * Rows + i : i * Columns + j] = m[i][j];
  }
}

// row - factor * other, from element `first` on.
template <class T, int N>
inline void matrix_subtract_row(T (&row)[N], T factor, const T (&other)[N], int first) {
  for (int k = first; k < N; ++k) row[k] = matrix_subtract(row[k], factor, other[k]);
}

template <class T, int N>
inline void matrix_swap_rows(T (&a)[N], T (&b)[N]) {
  for (int k = 0; k < N; ++k) {
    const T one = a[k];
    a[k] = b[k];
    b[k] = one;
  }
}

template <class T, int N>
inline void matrix_fill_nan(T* a) {
  for (int i = 0; i < N; ++i) a[i] = T(matrix_nan<MatrixPart<T>>());
}

// The factor of an n by n matrix, in its place: a = l l^H, or a = u^H u. Of the matrix, one
// triangle is read; that of the factor is 0. `status`: the order of the first leading minor that is
// not positive, or 0. In that case the factor is NaN.
template <class T, int N, bool Upper>
inline void cholesky_item(T* a, T*, int* status) {
  alignas(64) T u[N][N];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < i; ++j) u[i][j] = T(0);
    for (int j = i; j < N; ++j) u[i][j] = Upper ? a[i * N + j] : matrix_conjugate(a[j * N + i]);
  }
  *status = 0;
  for (int j = 0; j < N; ++j) {
    const auto diagonal = matrix_real(u[j][j]);
    if (!(diagonal > 0)) {
      *status = j + 1;
      return matrix_fill_nan<T, N * N>(a);
    }
    const auto root = heddle_scalar::sqrt(diagonal);
    u[j][j] = T(root);
    for (int k = j + 1; k < N; ++k) u[j][k] = matrix_divide(u[j][k], root);
    for (int i = j + 1; i < N; ++i) matrix_subtract_row(u[i], matrix_conjugate(u[j][i]), u[j], i);
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      if (Upper) {
        a[i * N + j] = u[i][j];
      } else {
        a[j * N + i] = matrix_conjugate(u[i][j]);
      }
    }
  }
}

// Gaussian elimination with partial pivoting. Returns the first column without a pivot, counted
// from 1, or 0.
template <class T, int Rows, int Columns>
inline int matrix_eliminate(T (&m)[Rows][Columns], int* pivots) {
  constexpr int steps = Rows < Columns ? Rows : Columns;
  int status = 0;
  for (int j = 0; j < steps; ++j) {
    int pivot = j;
    auto largest = matrix_size(m[j][j]);
    for (int i = j + 1; i < Rows; ++i) {
      const auto size = matrix_size(m[i][j]);
      if (size > largest) {
        largest = size;
        pivot = i;
      }
    }
    pivots[j] = pivot + 1;
    if (largest == 0) {
      if (status == 0) status = j + 1;
      continue;
    }
    if (pivot != j) matrix_swap_rows(m[pivot], m[j]);
    for (int i = j + 1; i < Rows; ++i) {
      m[i][j] = matrix_quotient(m[i][j], m[j][j]);
      matrix_subtract_row(m[i], m[i][j], m[j], j + 1);
    }
  }
  return status;
}

// `a` holds the transpose of the matrix, then that of its factors.
template <class T, int Rows, int Columns>
inline void lu_item(T* a, T*, int* pivots, int* status) {
  alignas(64) T m[Rows][Columns];
  matrix_read<T, Rows, Columns, true>(m, a);
  *status = matrix_eliminate(m, pivots);
  matrix_write<T, Rows, Columns, true>(m, a);
}

// Solves a x = b for `Sides` right-hand sides, which are rows in memory. `Transposed`: `a` holds
// the transpose of the matrix. NaN solves systems
// without a solution.
template <class T, int N, int Sides, bool Transposed>
inline void solve_item(T* a, T* b, T*, T*, int* pivots, int* status) {
  alignas(64) T m[N][N];
  alignas(64) T x[N][Sides];
  matrix_read<T, N, N, Transposed>(m, a);
  *status = matrix_eliminate(m, pivots);
  if (*status != 0) return matrix_fill_nan<T, N * Sides>(b);
  matrix_read<T, N, Sides, true>(x, b);
  for (int i = 0; i < N; ++i) {
    if (pivots[i] != i + 1) matrix_swap_rows(x[pivots[i] - 1], x[i]);
    for (int j = 0; j < i; ++j) matrix_subtract_row(x[i], m[i][j], x[j], 0);
  }
  for (int i = N - 1; i >= 0; --i) {
    for (int j = i + 1; j < N; ++j) matrix_subtract_row(x[i], m[i][j], x[j], 0);
    for (int s = 0; s < Sides; ++s) x[i][s] = matrix_quotient(x[i][s], m[i][i]);
  }
  matrix_write<T, N, Sides, true>(x, b);
}

//! section determinant_items_host needs matrix_items_host determinant_numbers limits
//! host
// `a` holds the transpose of the matrix. A singular matrix has sign 0 and logarithm -infinity.
template <class T, int N>
inline void slogdet_item(const T* a, T* sign, MatrixPart<T>* logarithm) {
  alignas(64) T m[N][N];
  int pivots[N];
  matrix_read<T, N, N, true>(m, a);
  const bool regular = matrix_eliminate(m, pivots) == 0;
  *sign = T(regular ? 1 : 0);
  *logarithm = regular ? 0 : -heddle_scalar::greatest<MatrixPart<T>>();
  for (int i = 0; regular && i < N; ++i) {
    const T phase = matrix_sign(m[i][i]);
    *sign = *sign * (pivots[i] == i + 1 ? phase : -phase);
    *logarithm += matrix_logarithm(m[i][i]);
  }
}

//! section complex_determinant_items_host needs complex_determinant_numbers complex_matrix_numbers determinant_items_host
//! host
// Section determinant_items_host for complex matrices.
