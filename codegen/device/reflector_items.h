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

// Loops over `j` are unrolled for small matrices only: for large ones a compiler would take
// seconds.
constexpr int reflector_steps(int rows, int columns, int steps) {
  return rows * columns <= 256 ? steps : 1;
}

// x[j]. Registers have no addresses.
template <class T, int N>
__device__ __forceinline__ T element_of(const T (&x)[N], int j) {
  T one = x[0];
#pragma unroll
  for (int i = 1; i < N; ++i) one = i == j ? x[i] : one;
  return one;
}

// Makes the elements of a column after `j` 0, and leaves v there. Returns tau.
template <class T, int Rows>
__device__ __forceinline__ T matrix_reflect(T (&x)[Rows], int j) {
  using Part = MatrixPart<T>;
  // Numbers whose squares are not in range are scaled by a power of two.
  constexpr bool narrow = sizeof(Part) == 4;
  constexpr Part least = narrow ? Part(0x1p-80) : Part(0x1p-900);
  constexpr Part most = narrow ? Part(0x1p120) : Part(0x1p1000);
  constexpr Part by = narrow ? Part(0x1p100) : Part(0x1p700);
  T alpha = element_of(x, j);
  Part squares = matrix_square(alpha);
  bool reduced = matrix_imaginary(alpha) == 0;  // the column is as it should be
#pragma unroll
  for (int i = 1; i < Rows; ++i) {
    if (i > j) {
      squares += matrix_square(x[i]);
      reduced = reduced && matrix_size(x[i]) == 0;
    }
  }
  if (reduced) return T(0);
  Part back = 1;
  if (!(squares >= least && squares <= most)) {
    const Part scale = squares < least ? by : 1 / by;
    back = 1 / scale;
    alpha = alpha * T(scale);
    squares = matrix_square(alpha);
#pragma unroll
    for (int i = 1; i < Rows; ++i) {
      if (i > j) {
        x[i] = x[i] * T(scale);
        squares += matrix_square(x[i]);
      }
    }
  }
  const Part beta = -heddle_scalar::copysign(heddle_scalar::sqrt(squares), matrix_real(alpha));
  const T below = T(1) / (alpha - T(beta));
#pragma unroll
  for (int i = 0; i < Rows; ++i) x[i] = i > j ? x[i] * below : i == j ? T(beta * back) : x[i];
  return matrix_divide(T(beta) - alpha, beta);
}

// x - factor * v v^H x, where v(i) is element i > j of v; x where it `stays`.
template <class T, int Rows, class Element>
__device__ __forceinline__ void apply_reflector(T (&x)[Rows], int j, T factor, bool stays,
                                                const Element& v) {
  const T head = element_of(x, j);
  T own[Rows], sum = head;
#pragma unroll
  for (int i = 1; i < Rows; ++i) {
    if (i > j) {
      own[i] = v(i);
      sum = matrix_add_product(sum, matrix_conjugate(own[i]), x[i]);
    }
  }
  sum = sum * factor;
  if (stays) return;
#pragma unroll
  for (int i = 0; i < Rows; ++i)
    x[i] = i > j ? matrix_subtract(x[i], own[i], sum) : i == j ? head - sum : x[i];
}

// The reflectors of the columns of the lanes, in their place. `keep(j, tau)` is called by lane j.
template <class T, int Rows, int Columns, int Width, class Keep>
__device__ __forceinline__ void reflect_columns(T (&column)[Rows], int lane, const Keep& keep) {
  constexpr int steps = Rows < Columns ? Rows : Columns;
#pragma unroll(reflector_steps(Rows, Columns, steps))
  for (int j = 0; j < steps; ++j) {
    T tau = T(0);
    if (lane == j) {
      tau = matrix_reflect(column, j);
      keep(j, tau);
    }
    const T factor = matrix_conjugate(shuffle(tau, j, Width));
    apply_reflector(column, j, factor, lane <= j,
                    [&](int i) { return shuffle(column[i], j, Width); });
  }
}

template <class T, int Rows, int Columns, int Width>
__device__ __forceinline__ void geqrf_item(SharedArray<T> a, SharedArray<T>, SharedArray<T> taus,
                                           int lane) {
  T column[Rows];
#pragma unroll
  for (int i = 0; i < Rows; ++i)
    column[i] = lane < Columns ? matrix_load(a, lane * Rows + i) : T(0);
  reflect_columns<T, Rows, Columns, Width>(column, lane,
                                           [&](int j, T tau) { matrix_store(taus, j, tau); });
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (lane < Columns) matrix_store(a, lane * Rows + i, column[i]);
  }
  block_barrier();
}

// A column of the product of the reflectors in memory, whose factors are tau(j).
template <class T, int Rows, int Columns, int Count, class Tau>
__device__ __forceinline__ void multiply_reflectors(T (&column)[Rows], SharedArray<T> a,
                                                    const Tau& tau, int lane) {
#pragma unroll
  for (int i = 0; i < Rows; ++i) column[i] = T(i == lane ? 1 : 0);
#pragma unroll(reflector_steps(Rows, Columns, Count))
  for (int j = Count - 1; j >= 0; --j)
    apply_reflector(column, j, tau(j), false, [&](int i) { return matrix_load(a, j * Rows + i); });
}

// The first columns of the product of `Count` reflectors.
template <class T, int Rows, int Columns, int Count, int Width>
__device__ __forceinline__ void householder_item(SharedArray<T> a, SharedArray<T> taus,
                                                 SharedArray<T>, int lane) {
  T column[Rows];
  multiply_reflectors<T, Rows, Columns, Count>(
      column, a, [&](int j) { return matrix_load(taus, j); }, lane);
  warp_barrier();
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (lane < Columns) matrix_store(a, lane * Rows + i, column[i]);
  }
  block_barrier();
}

//! section complex_reflector_items needs complex_reflector_numbers complex_matrix_items reflector_items
// Section reflector_items for complex matrices.
