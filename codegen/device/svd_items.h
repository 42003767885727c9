#pragma once
//! section svd_items needs jacobi_items reflector_items
// Singular values of small matrices by one-sided Jacobi rotations (section jacobi_items) of the
// columns of X, which is the matrix, or its conjugate transpose where that has fewer columns:
// X Q = P S. A lane holds a column. Of numbers that are not finite, all results are NaN.
template <class T, int M, int N>
struct SvdExtents {
  static constexpr bool wide = M < N;
  static constexpr int rows = wide ? N : M, columns = wide ? M : N;  // of X
};

// What is known of a matrix after the rotations: the scaled column of P S is in x.
template <class Part>
struct SvdState {
  Part value;  // of the own column
  int rank;    // its number in descending order
  bool good;   // finite, and the rotations ended
  int status;
};

template <class T, int M, int N, int Also, int Width>
__device__ __forceinline__ SvdState<MatrixPart<T>> svd_rotate(T (&x)[SvdExtents<T, M, N>::rows],
                                                              T (&q)[Also], SharedArray<T> a,
                                                              int lane) {
  using Part = MatrixPart<T>;
  using Extents = SvdExtents<T, M, N>;
  constexpr int rows = Extents::rows, columns = Extents::columns, not_finite = -4;
  constexpr Part few = jacobi_few<T>();
  Part bound = 0;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const T one =
        lane < columns ? matrix_load(a, Extents::wide ? lane * N + i : i * N + lane) : T(0);
    x[i] = Extents::wide ? matrix_conjugate(one) : one;
    bound += matrix_size(matrix_divide(x[i], 1 / few));
  }
  Part up;
  bool nan;
  const Part power = jacobi_power<Width>(bound, up, nan);
  const bool finite = power > 0;
  const Part scale = finite ? 1 / power : Part(0);
#pragma unroll
  for (int i = 0; i < rows; ++i) x[i] = finite ? x[i] * T(up) * T(scale) * T(few) : T(0);
  const bool done = jacobi_sweeps<T, rows, Also, columns, Width>(x, q, lane);
  Part squares = 0;
#pragma unroll
  for (int i = 0; i < rows; ++i) squares += matrix_square(x[i]);
  const Part length = heddle_scalar::sqrt(squares);
  const int rank = jacobi_rank<columns, Width>(-length, lane);
  const bool good = finite && done;
  const Part value = good ? length * (1 / few) * power * (1 / up) : matrix_nan<Part>();
  return {value, good && lane < columns ? rank : lane, good, nan ? not_finite : done ? 0 : columns};
}

template <class T, int M, int N, int Width>
__device__ __forceinline__ void svdvals_item(SharedArray<T> a, SharedArray<MatrixPart<T>> values,
                                             SharedArray<int> status, int lane) {
  using Part = MatrixPart<T>;
  T x[SvdExtents<T, M, N>::rows], none[1] = {T(0)};
  const SvdState<Part> own = svd_rotate<T, M, N, 1, Width>(x, none, a, lane);
  if (lane < SvdExtents<T, M, N>::columns)
    jacobi_store<T>(values, JacobiValue<Part>{own.value, own.rank});
  if (lane == 0) shared_store(status, 0, own.status);
  block_barrier();
}

// `a` has room for `M` or `N` more elements, whichever are fewer; `vh` may be in its place.
template <class T, int M, int N, int Width, bool Full>
__device__ __forceinline__ void svd_item(SharedArray<T> a, SharedArray<T> u,
                                         SharedArray<MatrixPart<T>> values, SharedArray<T> vh,
                                         SharedArray<int> status, int lane) {
  using Part = MatrixPart<T>;
  using Extents = SvdExtents<T, M, N>;
  constexpr int rows = Extents::rows, columns = Extents::columns;
  constexpr int vectors = Full ? rows : columns;  // columns of P
  T x[rows], q[columns];
#pragma unroll
  for (int i = 0; i < columns; ++i) q[i] = T(i == lane ? 1 : 0);
  const SvdState<Part> own = svd_rotate<T, M, N, columns, Width>(x, q, a, lane);
  if (lane < columns) jacobi_store<T>(values, JacobiValue<Part>{own.value, own.rank});
  if (lane == 0) shared_store(status, 0, own.status);
  // Every rotation has rounded the length of q's columns.
  Part squares = 0;
#pragma unroll
  for (int i = 0; i < columns; ++i) squares += matrix_square(q[i]);
  const Part inverse = 1 / heddle_scalar::sqrt(squares);
#pragma unroll
  for (int i = 0; i < columns; ++i) q[i] = q[i] * T(inverse);
  // Columns in the order of values.
  int source = lane % Width;
#pragma unroll
  for (int k = 0; k < columns; ++k) source = shuffle(own.rank, k, Width) == lane ? k : source;
#pragma unroll
  for (int i = 0; i < rows; ++i) x[i] = shuffle(x[i], source, Width);
#pragma unroll
  for (int i = 0; i < columns; ++i) q[i] = shuffle(q[i], source, Width);
  // P is the product of the reflectors of P S, up to signs: also where values are 0, and beyond.
  const auto tau_at = [&](int j) { return rows * columns + j; };
  reflect_columns<T, rows, columns, Width>(x, lane,
                                           [&](int j, T tau) { matrix_store(a, tau_at(j), tau); });
  const T sign = T(lane < columns && matrix_real(element_of(x, lane)) < 0 ? -1 : 1);
  warp_barrier();
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    if (lane < columns) matrix_store(a, lane * rows + i, x[i]);
  }
  warp_barrier();
  multiply_reflectors<T, rows, columns, columns>(
      x, a, [&](int j) { return matrix_load(a, tau_at(j)); }, lane);
  warp_barrier();
  const T nan = T(matrix_nan<Part>());
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const T one = own.good ? x[i] * sign : nan;
    if (lane < vectors) {
      if (Extents::wide)
        matrix_store(vh, lane * N + i, matrix_conjugate(one));
      else
        matrix_store(u, i * vectors + lane, one);
    }
  }
#pragma unroll
  for (int i = 0; i < columns; ++i) {
    const T one = own.good ? q[i] : nan;
    if (lane < columns) {
      if (Extents::wide)
        matrix_store(u, i * columns + lane, one);
      else
        matrix_store(vh, lane * N + i, matrix_conjugate(one));
    }
  }
  block_barrier();
}

//! section complex_svd_items needs complex_jacobi_items complex_reflector_items svd_items
// Section svd_items for complex matrices.
