#pragma once
//! section qr_numbers needs matrix_numbers sqrt copysign
// Householder reflectors H = 1 - tau v v^H of columns of M numbers. v is 0 above row j and 1 in it;
// its other numbers lie in a column below row j.
template <class T>
HD_SCALAR T matrix_square(T x) {
  return x * x;
}
template <class T>
HD_SCALAR T matrix_imaginary(T) {
  return 0;
}

// Replaces a column from row j on by beta, which is real, and by v, where H^H x = (beta, 0 ...).
// Returns tau. Numbers are divided by the largest one before they are squared.
template <class T, int M>
HD_SCALAR T qr_reflect(T (&x)[M], int j) {
  using Part = MatrixPart<T>;
  Part largest = 0;
  bool zero = true;
#pragma unroll
  for (int i = 0; i < M; ++i) {
    const Part size = i < j ? static_cast<Part>(0) : matrix_size(x[i]);
    largest = size > largest ? size : largest;
    zero = zero && (i <= j || x[i] == T(0));
  }
  if (zero && matrix_imaginary(x[j]) == 0) return T(0);
  Part squares = 0;
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (i >= j) squares += matrix_square(matrix_divide(x[i], largest));
  }
  const Part norm = largest * heddle_scalar::sqrt(squares);
  const T alpha = x[j];
  const Part beta = -heddle_scalar::copysign(norm, matrix_real(alpha));
  const T divisor = alpha - T(beta);
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (i > j) x[i] = x[i] / divisor;
  }
  x[j] = T(beta);
  return matrix_divide(T(beta) - alpha, beta);
}

// x - factor v v^H x, where number i of v is v(i).
template <class T, int M, class Vector>
HD_SCALAR void qr_apply(T (&x)[M], int j, T factor, const Vector& v) {
  T sum = x[j];
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (i > j) sum = matrix_add_product(sum, matrix_conjugate(v(i)), x[i]);
  }
  sum = sum * factor;
  x[j] = x[j] - sum;
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (i > j) x[i] = matrix_subtract(x[i], v(i), sum);
  }
}

//! section complex_qr_numbers needs complex_matrix_numbers qr_numbers
namespace heddle_scalar {
template <class T>
HD_SCALAR T matrix_square(complex<T> x) {
  return x.re * x.re + x.im * x.im;
}
template <class T>
HD_SCALAR T matrix_imaginary(complex<T> x) {
  return x.im;
}
}  // namespace heddle_scalar

//! section qr_items needs matrix_items qr_numbers
// QR factors of an `M` by `C` matrix, whose columns follow each other in memory, in its place: R on
// and above the diagonal, reflectors below it. A lane holds a column.
template <class T, int M, int C, int Width>
__device__ __forceinline__ void geqrf_item(SharedArray<T> a, SharedArray<T>, SharedArray<T> tau,
                                           int lane) {
  constexpr int steps = M < C ? M : C;
  T x[M], own = T(0);
#pragma unroll
  for (int i = 0; i < M; ++i) x[i] = lane < C ? matrix_load(a, lane * M + i) : T(0);
#pragma unroll
  for (int j = 0; j < steps; ++j) {
    if (lane == j) own = qr_reflect(x, j);
    const T factor = matrix_conjugate(shuffle(own, j, Width));
    T v[M];
#pragma unroll
    for (int i = j + 1; i < M; ++i) v[i] = shuffle(x[i], j, Width);
    if (lane > j) qr_apply(x, j, factor, [&](int i) { return v[i]; });
  }
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (lane < C) matrix_store(a, lane * M + i, x[i]);
  }
  if (lane < steps) matrix_store(tau, lane, own);
  block_barrier();
}

// The first `C` columns of the product of `K` reflectors, in their place. A lane holds a column.
template <class T, int M, int C, int K, int Width>
__device__ __forceinline__ void householder_item(SharedArray<T> a, SharedArray<T> tau,
                                                 SharedArray<T>, int lane) {
  T q[M];
#pragma unroll
  for (int i = 0; i < M; ++i) q[i] = T(i == lane ? 1 : 0);
#pragma unroll
  for (int j = K - 1; j >= 0; --j)
    qr_apply(q, j, matrix_load(tau, j), [&](int i) { return matrix_load(a, j * M + i); });
  warp_barrier();
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (lane < C) matrix_store(a, lane * M + i, q[i]);
  }
  block_barrier();
}

//! section complex_qr_items needs complex_qr_numbers complex_matrix_items qr_items
// Section qr_items for complex matrices.

//! section qr_items_host needs matrix_items_host qr_numbers
//! host
// The same by a thread of the host.
template <class T, int M, int C>
inline void geqrf_item(T* a, T*, T* tau) {
  constexpr int steps = M < C ? M : C;
  auto& columns = *reinterpret_cast<T(*)[C][M]>(a);
  for (int j = 0; j < steps; ++j) {
    tau[j] = qr_reflect(columns[j], j);
    for (int c = j + 1; c < C; ++c)
      qr_apply(columns[c], j, matrix_conjugate(tau[j]), [&](int i) { return columns[j][i]; });
  }
}

template <class T, int M, int C, int K>
inline void householder_item(T* a, const T* tau, T*) {
  alignas(64) T q[C][M];
  const auto& reflectors = *reinterpret_cast<const T(*)[C][M]>(a);
  for (int c = 0; c < C; ++c) {
    for (int i = 0; i < M; ++i) q[c][i] = T(i == c ? 1 : 0);
    for (int j = K - 1; j >= 0; --j)
      qr_apply(q[c], j, tau[j], [&](int i) { return reflectors[j][i]; });
  }
  __builtin_memcpy(a, q, sizeof q);
}

//! section complex_qr_items_host needs complex_qr_numbers complex_matrix_items_host qr_items_host
//! host
// Section qr_items_host for complex matrices.
