#pragma once
//! section reflector_numbers needs matrix_numbers
template <class T>
HD_SCALAR T matrix_imaginary(T) {
  return static_cast<T>(0);
}
// |x|^2.
template <class T>
HD_SCALAR T matrix_square(T x) {
  return x * x;
}

//! section complex_reflector_numbers needs reflector_numbers complex_matrix_numbers
namespace heddle_scalar {
template <class T>
HD_SCALAR T matrix_imaginary(complex<T> x) {
  return x.im;
}
template <class T>
HD_SCALAR T matrix_square(complex<T> x) {
  return x.re * x.re + x.im * x.im;
}
}  // namespace heddle_scalar

//! section reflector_items needs matrix_items reflector_numbers copysign
// Householder reflectors H = 1 - tau v v^H, as LAPACK keeps them: v is 0 before element j, 1 there,
// and after it in column j of the matrix. Matrices are in Fortran order; a lane holds a column.

// Makes the elements of a column after `j` 0, and leaves v there. Returns tau.
template <class T, int Rows>
__device__ __forceinline__ T matrix_reflect(T (&x)[Rows], int j) {
  using Part = MatrixPart<T>;
  // Numbers whose squares are not in range are scaled by a power of two.
  constexpr bool narrow = sizeof(Part) == 4;
  constexpr Part least = narrow ? Part(0x1p-80) : Part(0x1p-900);
  constexpr Part most = narrow ? Part(0x1p120) : Part(0x1p1000);
  constexpr Part by = narrow ? Part(0x1p100) : Part(0x1p700);
  Part squares = matrix_square(x[j]);
  bool reduced = matrix_imaginary(x[j]) == 0;  // the column is as it should be
#pragma unroll
  for (int i = j + 1; i < Rows; ++i) {
    squares += matrix_square(x[i]);
    reduced = reduced && matrix_size(x[i]) == 0;
  }
  if (reduced) return T(0);
  Part back = 1;
  if (!(squares >= least && squares <= most)) {
    const Part scale = squares < least ? by : 1 / by;
    back = 1 / scale;
    squares = 0;
#pragma unroll
    for (int i = j; i < Rows; ++i) {
      x[i] = x[i] * T(scale);
      squares += matrix_square(x[i]);
    }
  }
  const Part beta = -heddle_scalar::copysign(heddle_scalar::sqrt(squares), matrix_real(x[j]));
  const T below = T(1) / (x[j] - T(beta));
  const T tau = matrix_divide(T(beta) - x[j], beta);
  x[j] = T(beta * back);
#pragma unroll
  for (int i = j + 1; i < Rows; ++i) x[i] = x[i] * below;
  return tau;
}

template <class T, int Rows, int Columns, int Width>
__device__ __forceinline__ void geqrf_item(SharedArray<T> a, SharedArray<T>, SharedArray<T> taus,
                                           int lane) {
  constexpr int steps = Rows < Columns ? Rows : Columns;
  T column[Rows];
#pragma unroll
  for (int i = 0; i < Rows; ++i)
    column[i] = lane < Columns ? matrix_load(a, lane * Rows + i) : T(0);
#pragma unroll
  for (int j = 0; j < steps; ++j) {
    T tau = T(0);
    if (lane == j) {
      tau = matrix_reflect(column, j);
      matrix_store(taus, j, tau);
    }
    const T factor = matrix_conjugate(shuffle(tau, j, Width));
    T v[Rows], sum = column[j];
#pragma unroll
    for (int i = j + 1; i < Rows; ++i) {
      v[i] = shuffle(column[i], j, Width);
      sum = matrix_add_product(sum, matrix_conjugate(v[i]), column[i]);
    }
    sum = lane > j ? sum * factor : T(0);
    column[j] = column[j] - sum;
#pragma unroll
    for (int i = j + 1; i < Rows; ++i) column[i] = matrix_subtract(column[i], v[i], sum);
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (lane < Columns) matrix_store(a, lane * Rows + i, column[i]);
  }
  block_barrier();
}

// The first columns of the product of `Count` reflectors.
template <class T, int Rows, int Columns, int Count, int Width>
__device__ __forceinline__ void householder_item(SharedArray<T> a, SharedArray<T> taus,
                                                 SharedArray<T>, int lane) {
  T column[Rows];
#pragma unroll
  for (int i = 0; i < Rows; ++i) column[i] = T(i == lane ? 1 : 0);
#pragma unroll
  for (int j = Count - 1; j >= 0; --j) {
    T v[Rows], sum = column[j];
#pragma unroll
    for (int i = j + 1; i < Rows; ++i) {
      v[i] = matrix_load(a, j * Rows + i);
      sum = matrix_add_product(sum, matrix_conjugate(v[i]), column[i]);
    }
    sum = sum * matrix_load(taus, j);
    column[j] = column[j] - sum;
#pragma unroll
    for (int i = j + 1; i < Rows; ++i) column[i] = matrix_subtract(column[i], v[i], sum);
  }
  warp_barrier();
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (lane < Columns) matrix_store(a, lane * Rows + i, column[i]);
  }
  block_barrier();
}

//! section complex_reflector_items needs complex_reflector_numbers complex_matrix_items reflector_items
// Section reflector_items for complex matrices.
