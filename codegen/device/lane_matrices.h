#pragma once
//! section lane_matrices needs matrix_items
// Factorisations of one small matrix by one lane, which holds all of it in registers. Further lanes
// of an item do nothing. Functions take what those of section matrix_items take.

// The reciprocals of pivots. `exact`: all of them replace a division (matrix_reciprocal).
template <class T, int Steps>
struct LaneReciprocals {
  T of[Steps];
  bool exact = true;
};

// Gaussian elimination with partial pivoting. `source[i]`: the row that became row i. `pivot[j]`:
// the row that step j exchanged with row j, counted from 1. `reciprocals`: of the diagonal. Returns
// the first column without a pivot, counted from 1, or 0.
template <class T, int Rows, int Columns, int Steps>
__device__ __forceinline__ int lane_eliminate(T (&a)[Rows][Columns], int (&source)[Rows],
                                              int (&pivot)[Steps],
                                              LaneReciprocals<T, Steps>& reciprocals) {
  using Part = MatrixPart<T>;
  int status = 0;
#pragma unroll
  for (int i = 0; i < Rows; ++i) source[i] = i;
#pragma unroll
  for (int j = 0; j < Steps; ++j) {
    // As in LAPACK, the first of the largest numbers; NaN only where it stands on the diagonal.
    Part largest = matrix_size(a[j][j]);
    int from = j;
#pragma unroll
    for (int i = j + 1; i < Rows; ++i) {
      const Part size = matrix_size(a[i][j]);
      if (size > largest) {
        largest = size;
        from = i;
      }
    }
    pivot[j] = from + 1;
#pragma unroll
    for (int i = j + 1; i < Rows; ++i) {
      const bool swap = i == from;
#pragma unroll
      for (int k = 0; k < Columns; ++k) {
        const T upper = a[j][k], lower = a[i][k];
        a[j][k] = swap ? lower : upper;
        a[i][k] = swap ? upper : lower;
      }
      const int upper = source[j], lower = source[i];
      source[j] = swap ? lower : upper;
      source[i] = swap ? upper : lower;
    }
    const bool regular = matrix_size(a[j][j]) != 0;
    if (!regular && status == 0) status = j + 1;
    bool exact;
    reciprocals.of[j] = matrix_reciprocal(a[j][j], exact);
    reciprocals.exact = reciprocals.exact && exact;
    if (exact) {
#pragma unroll
      for (int i = j + 1; i < Rows; ++i) a[i][j] = a[i][j] * reciprocals.of[j];
    } else if (regular) {
#pragma unroll
      for (int i = j + 1; i < Rows; ++i) a[i][j] = matrix_quotient(a[i][j], a[j][j]);
    }
    if (regular) {
#pragma unroll
      for (int i = j + 1; i < Rows; ++i) {
#pragma unroll
        for (int k = j + 1; k < Columns; ++k) a[i][k] = matrix_subtract(a[i][k], a[i][j], a[j][k]);
      }
    }
  }
  return status;
}

template <class T, int Rows, int Columns, bool Transposed>
__device__ __forceinline__ void lane_load(T (&to)[Rows][Columns], SharedArray<T> a) {
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
#pragma unroll
    for (int j = 0; j < Columns; ++j)
      to[i][j] = matrix_load(a, matrix_index<Rows, Columns, Transposed>(i, j));
  }
}

// Replaces a matrix by its factors.
template <class T, int Rows, int Columns, int Steps, bool Transposed>
__device__ __forceinline__ int lane_factorize(T (&own)[Rows][Columns], int (&source)[Rows],
                                              LaneReciprocals<T, Steps>& reciprocals,
                                              SharedArray<T> a, SharedArray<int> pivots,
                                              SharedArray<int> status) {
  int pivot[Steps];
  lane_load<T, Rows, Columns, Transposed>(own, a);
  const int failed = lane_eliminate(own, source, pivot, reciprocals);
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
#pragma unroll
    for (int j = 0; j < Columns; ++j)
      matrix_store(a, matrix_index<Rows, Columns, Transposed>(i, j), own[i][j]);
  }
#pragma unroll
  for (int j = 0; j < Steps; ++j) shared_store(pivots, j, pivot[j]);
  shared_store(status, 0, failed);
  return failed;
}

template <class T, int N, bool Upper>
__device__ __forceinline__ void cholesky_lane(SharedArray<T> a, SharedArray<T>,
                                              SharedArray<int> status, int lane) {
  using Part = MatrixPart<T>;
  if (lane == 0) {
    T l[N][N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
#pragma unroll
      for (int j = 0; j <= i; ++j) {
        const T one = matrix_load(a, matrix_index<N, N, Upper>(i, j));
        l[i][j] = Upper ? matrix_conjugate(one) : one;
      }
    }
    int failed = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const Part diagonal = matrix_real(l[j][j]);
      if (!(diagonal > 0) && failed == 0) failed = j + 1;
      const Part root = heddle_scalar::sqrt(diagonal);
      l[j][j] = T(root);
#pragma unroll
      for (int i = j + 1; i < N; ++i) l[i][j] = matrix_divide(l[i][j], root);
#pragma unroll
      for (int k = j + 1; k < N; ++k) {
        const T other = matrix_conjugate(l[k][j]);
#pragma unroll
        for (int i = k; i < N; ++i) l[i][k] = matrix_subtract(l[i][k], l[i][j], other);
      }
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const T one = j > i ? T(0) : Upper ? matrix_conjugate(l[i][j]) : l[i][j];
        matrix_store(a, matrix_index<N, N, Upper>(i, j), failed ? T(matrix_nan<Part>()) : one);
      }
    }
    shared_store(status, 0, failed);
  }
  block_barrier();
}

template <class T, int Rows, int Columns>
__device__ __forceinline__ void lu_lane(SharedArray<T> a, SharedArray<T>, SharedArray<int> pivots,
                                        SharedArray<int> status, int lane) {
  if (lane == 0) {
    T own[Rows][Columns];
    int source[Rows];
    constexpr int steps = Rows < Columns ? Rows : Columns;
    LaneReciprocals<T, steps> reciprocals;
    lane_factorize<T, Rows, Columns, steps, true>(own, source, reciprocals, a, pivots, status);
  }
  block_barrier();
}

// Replaces `x` by the solution of the triangular systems whose factors `own` holds. `Products`:
// reciprocals of the diagonal replace divisions.
template <bool Products, class T, int N>
__device__ __forceinline__ void lane_substitute(T (&x)[N], const T (&own)[N][N],
                                                const LaneReciprocals<T, N>& reciprocals) {
#pragma unroll
  for (int j = 0; j < N; ++j) {
#pragma unroll
    for (int i = j + 1; i < N; ++i) x[i] = matrix_subtract(x[i], own[i][j], x[j]);
  }
#pragma unroll
  for (int j = N - 1; j >= 0; --j) {
    x[j] = Products ? x[j] * reciprocals.of[j] : matrix_quotient(x[j], own[j][j]);
#pragma unroll
    for (int i = 0; i < j; ++i) x[i] = matrix_subtract(x[i], own[i][j], x[j]);
  }
}

template <class T, int N, int Sides, bool Transposed>
__device__ __forceinline__ void solve_lane(SharedArray<T> a, SharedArray<T> b, SharedArray<T>,
                                           SharedArray<T>, SharedArray<int> pivots,
                                           SharedArray<int> status, int lane) {
  if (lane == 0) {
    T own[N][N];
    int source[N];
    LaneReciprocals<T, N> reciprocals;
    const int failed =
        lane_factorize<T, N, N, N, Transposed>(own, source, reciprocals, a, pivots, status);
#pragma unroll 1
    for (int side = 0; side < Sides; ++side) {
      T x[N];
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = matrix_load(b, side * N + source[i]);
      if (reciprocals.exact) {
        lane_substitute<true>(x, own, reciprocals);
      } else {
        lane_substitute<false>(x, own, reciprocals);
      }
#pragma unroll
      for (int i = 0; i < N; ++i)
        matrix_store(b, side * N + i, failed ? T(matrix_nan<MatrixPart<T>>()) : x[i]);
    }
  }
  block_barrier();
}

// Columns of the identity are the right-hand sides.
template <class T, int N>
__device__ __forceinline__ void inverse_lane(SharedArray<T> a, SharedArray<T>,
                                             SharedArray<int> status, int lane) {
  if (lane == 0) {
    T own[N][N];
    int source[N], pivot[N];
    LaneReciprocals<T, N> reciprocals;
    lane_load<T, N, N, true>(own, a);
    const int failed = lane_eliminate(own, source, pivot, reciprocals);
#pragma unroll 1
    for (int side = 0; side < N; ++side) {
      T x[N];
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = T(source[i] == side ? 1 : 0);
      if (reciprocals.exact) {
        lane_substitute<true>(x, own, reciprocals);
      } else {
        lane_substitute<false>(x, own, reciprocals);
      }
#pragma unroll
      for (int i = 0; i < N; ++i)
        matrix_store(a, side * N + i, failed ? T(matrix_nan<MatrixPart<T>>()) : x[i]);
    }
    shared_store(status, 0, failed);
  }
  block_barrier();
}

//! section complex_lane_matrices needs complex_matrix_items lane_matrices
// Section lane_matrices for complex matrices.

//! section lane_determinants needs lane_matrices determinant_numbers
template <class T, int N>
__device__ __forceinline__ void slogdet_lane(SharedArray<T> a, SharedArray<T> sign,
                                             SharedArray<MatrixPart<T>> logarithm, int lane) {
  if (lane == 0) {
    T own[N][N];
    int source[N], pivot[N];
    LaneReciprocals<T, N> reciprocals;
    lane_load<T, N, N, true>(own, a);
    const bool regular = lane_eliminate(own, source, pivot, reciprocals) == 0;
    T phase = T(1);
    MatrixPart<T> sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const T one = matrix_sign(own[j][j]);
      phase = phase * (pivot[j] != j + 1 ? -one : one);
      sum = sum + matrix_logarithm(own[j][j]);
    }
    shared_store(sign, 0, regular ? phase : T(0));
    shared_store(logarithm, 0, regular ? sum : -heddle_scalar::greatest<MatrixPart<T>>());
  }
  block_barrier();
}

//! section complex_lane_determinants needs complex_determinant_numbers complex_matrix_items lane_determinants
// Section lane_determinants for complex matrices.
