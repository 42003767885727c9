#pragma once
//! section jacobi_items needs matrix_items reflector_numbers absolute_numbers
// Eigenvalues of small Hermitian matrices by one-sided Jacobi rotations (Hestenes, 1958), two by
// two of all columns at once. Rotations make the columns of B = A + c orthogonal, where c makes B
// positive definite. Then the columns are its eigenvectors, times its eigenvalues. A lane holds a
// column.

// Loads a column of the Hermitian matrix of which one triangle is given.
template <class T, int N, bool Upper>
__device__ __forceinline__ void jacobi_load(T (&x)[N], SharedArray<T> a, int lane) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const bool given = Upper ? i <= lane : i >= lane;
    const T one = lane < N ? matrix_load(a, given ? i * N + lane : lane * N + i) : T(0);
    x[i] = i == lane ? T(matrix_real(one)) : given ? one : matrix_conjugate(one);
  }
}

// The lane whose column is rotated with that of `lane` in step `t` of N - 1 or N; `lane` for none.
template <int N>
__device__ __forceinline__ int jacobi_partner(int lane, int t) {
  constexpr int last = N + N % 2 - 1;
  int partner = t >= lane ? t - lane : t - lane + last;
  if (partner == lane) partner = last;
  if (lane == last) partner = t % 2 == 0 ? t / 2 : (t + last) / 2;
  return lane < N && partner < N ? partner : lane;
}

// A factor with which the sum of the absolute values of a column is never too large.
template <class T>
__device__ constexpr MatrixPart<T> jacobi_few() {
  return sizeof(T) > sizeof(MatrixPart<T>) ? MatrixPart<T>(0x1p-6) : MatrixPart<T>(0x1p-5);
}

// One rotation of every column with its partner, and the same rotation of the columns of `q`.
// Whether they were further from orthogonal than rounding explains. Of columns that are nothing
// but rounding of the largest, any directions are as good: of a matrix of low rank they would
// become smaller from sweep to sweep.
template <class T, int N, int Also, int Width>
__device__ __forceinline__ bool jacobi_rotate(T (&x)[N], T (&q)[Also], int partner, int lane) {
  using Part = MatrixPart<T>;
  constexpr Part epsilon = sizeof(Part) == 4 ? Part(0x1p-23) : Part(0x1p-52);
  constexpr Part tolerance = 8 * epsilon, least = epsilon / 8, noise = least * jacobi_few<T>();
  T y[N], product = T(0);
  Part own = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    y[i] = shuffle(x[i], partner % Width, Width);
    product = matrix_add_product(product, matrix_conjugate(x[i]), y[i]);
    own += matrix_square(x[i]);
  }
  const Part other = shuffle(own, partner % Width, Width);
  // Both columns turn by one angle: rounding may differ between the products of both lanes.
  const bool first = lane < partner;
  const T agreed = shuffle(product, (first ? lane : partner) % Width, Width);
  product = first ? agreed : matrix_conjugate(agreed);
  const Part square = matrix_square(product), lengths = own * other;
  const Part shorter = own < other ? own : other;
  const bool turns =
      partner != lane && square > least * least * lengths && !(shorter < noise * noise);
  if (ballot(turns) == 0) return false;
  const Part size = matrix_absolute(product);
  const Part ratio = (first ? other - own : own - other) / (2 * size);
  const Part steep = matrix_size(ratio) + heddle_scalar::sqrt(1 + ratio * ratio);
  const Part tangent = (ratio < 0 ? Part(-1) : Part(1)) / steep;
  const Part cosine = turns ? 1 / heddle_scalar::sqrt(1 + tangent * tangent) : Part(1);
  const Part sine = cosine * tangent;
  const T turn =
      turns ? matrix_divide(matrix_conjugate(product), size) * T(first ? -sine : sine) : T(0);
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = matrix_add_product(x[i] * T(cosine), turn, y[i]);
  // Columns of q move only now: a thread holds three columns at once, not four.
#pragma unroll
  for (int i = 0; i < Also; ++i) {
    const T z = shuffle(q[i], partner % Width, Width);
    q[i] = matrix_add_product(q[i] * T(cosine), turn, z);
  }
  return turns && square > tolerance * tolerance * lengths;
}

// Makes `Columns` columns orthogonal by rotations, which it applies to the columns of `q` too.
// Whether those of the own matrix became so.
template <class T, int N, int Also, int Columns, int Width>
__device__ __forceinline__ bool jacobi_sweeps(T (&x)[N], T (&q)[Also], int lane) {
  constexpr int sweeps = 30, steps = Columns + Columns % 2 - 1;
  bool more = true, rotated = false;
#pragma unroll 1
  for (int sweep = 0; more && sweep < sweeps; ++sweep) {
    rotated = false;
#pragma unroll 1
    for (int t = 0; t < steps; ++t) {
      const int partner = jacobi_partner<Columns>(lane, t);
      rotated |= jacobi_rotate<T, N, Also, Width>(x, q, partner, lane);
    }
    more = ballot(rotated) != 0;
  }
  int remain = rotated;
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) remain |= shuffle_xor(remain, mask, Width);
  return remain == 0;
}

// A power of two that is at most the largest of the lanes' bounds times `up`; 0 if one is not
// finite. `up` is 1, or larger where bounds are so small that numbers may be subnormal. `nan`:
// whether one is NaN.
template <int Width, class Part>
__device__ __forceinline__ Part jacobi_power(Part bound, Part& up, bool& nan) {
  constexpr Part least = sizeof(Part) == 4 ? Part(0x1p-126) : Part(0x1p-1022);
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) {
    const Part other = shuffle_xor(bound, mask, Width);
    bound = other > bound || other != other ? other : bound;
  }
  nan = bound != bound;
  up = bound < least * Part(0x1p60) ? Part(0x1p64) : Part(1);
  if (!(bound < heddle_scalar::greatest<Part>())) return 0;
  const Part power = heddle_scalar::float_of(
      heddle_scalar::bits_of(bound * up) & heddle_scalar::bits_of(heddle_scalar::greatest<Part>()));
  return power > least ? power : least;
}

// How many of the values of `Count` lanes come before the own one, in ascending order.
template <int Count, int Width, class Part>
__device__ __forceinline__ int jacobi_rank(Part value, int lane) {
  int rank = 0;
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    const Part other = shuffle(value, k, Width);
    rank += other < value || (other == value && k < lane);
  }
  return rank;
}

// x^H a x, for the Hermitian matrix whose columns are in memory. Code for one column, which is
// found by comparing: for all of them it would take a compiler seconds.
template <class T, int N>
__device__ __forceinline__ MatrixPart<T> jacobi_quotient(const T (&x)[N], SharedArray<T> a) {
  MatrixPart<T> sum = 0;
#pragma unroll 1
  for (int j = 0; j < N; ++j) {
    T one = T(0), factor = x[0];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      one = matrix_add_product(one, matrix_conjugate(x[i]), matrix_load(a, j * N + i));
      factor = i == j ? x[i] : factor;
    }
    sum += matrix_real(one * factor);
  }
  return sum;
}

// An eigenvalue, and its number in ascending order.
template <class Part>
struct JacobiValue {
  Part value;
  int rank;
};

// All arrays of an item are padded as that of its matrix.
template <class T, class Part>
__device__ __forceinline__ void jacobi_store(SharedArray<Part> values, JacobiValue<Part> one) {
  shared_store(values, padded<Part, sizeof(T)>(one.rank), one.value);
}

// An eigenvalue and its eigenvector, x, of the matrix of which `a` has a triangle. `failed`: 0; N
// if the rotations did not end; -1 if the matrix is not finite. If it is not 0, both are NaN.
template <class T, int N, int Width, bool Upper>
__device__ __forceinline__ JacobiValue<MatrixPart<T>> jacobi_item(T (&x)[N], SharedArray<T> a,
                                                                  int& failed, int lane) {
  using Part = MatrixPart<T>;
  constexpr Part few = jacobi_few<T>(), shift = Part(2.5);
  jacobi_load<T, N, Upper>(x, a, lane);
  // The sum of a column's absolute values, which bounds eigenvalues, is below 2 after scaling by a
  // power of two.
  Part bound = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) bound += matrix_size(matrix_divide(x[i], 1 / few));
  Part up;
  bool nan;
  const Part power = jacobi_power<Width>(bound, up, nan);
  const bool finite = power > 0;
  warp_barrier();
#pragma unroll
  for (int i = 0; i < N; ++i) {
    x[i] = finite ? x[i] * T(up) * T(1 / power) * T(few) : T(0);
    if (lane < N) matrix_store(a, lane * N + i, x[i]);
    if (i == lane) x[i] = x[i] + T(shift);
  }
  warp_barrier();
  T none[1] = {T(0)};
  const bool done = jacobi_sweeps<T, N, 1, N, Width>(x, none, lane);
  Part squares = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) squares += matrix_square(x[i]);
  const Part norm = 1 / heddle_scalar::sqrt(lane < N ? squares : Part(1));
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = finite && done ? x[i] * T(norm) : T(matrix_nan<Part>());
  const Part value = jacobi_quotient<T, N>(x, a) * (1 / few) * power * (1 / up);
  const int rank = jacobi_rank<N, Width>(value, lane);
  warp_barrier();
  failed = finite ? (done ? 0 : N) : -1;
  return {value, finite && done ? rank : lane};
}

template <class T, int N, int Width, bool Upper>
__device__ __forceinline__ void eigh_item(SharedArray<T> a, SharedArray<MatrixPart<T>> values,
                                          SharedArray<T>, SharedArray<int> status, int lane) {
  T x[N];
  int failed;
  const JacobiValue<MatrixPart<T>> own = jacobi_item<T, N, Width, Upper>(x, a, failed, lane);
  if (lane < N) {
    jacobi_store<T>(values, own);
#pragma unroll
    for (int i = 0; i < N; ++i) matrix_store(a, own.rank * N + i, matrix_conjugate(x[i]));
  }
  if (lane == 0) shared_store(status, 0, failed > 0 ? failed : 0);
  block_barrier();
}

template <class T, int N, int Width, bool Upper>
__device__ __forceinline__ void eigvalsh_item(SharedArray<T> a, SharedArray<MatrixPart<T>> values,
                                              SharedArray<int> status, int lane) {
  constexpr int not_finite = -4;
  T x[N];
  int failed;
  const JacobiValue<MatrixPart<T>> own = jacobi_item<T, N, Width, Upper>(x, a, failed, lane);
  if (lane < N) jacobi_store<T>(values, own);
  if (lane == 0) shared_store(status, 0, failed < 0 ? not_finite : failed);
  block_barrier();
}

//! section absolute_numbers needs matrix_numbers
template <class T>
HD_SCALAR T matrix_absolute(T x) {
  return matrix_size(x);
}

//! section complex_absolute_numbers needs absolute_numbers complex_absolute
namespace heddle_scalar {
template <class T>
HD_SCALAR T matrix_absolute(complex<T> x) {
  return absolute(x);
}
}  // namespace heddle_scalar

//! section complex_jacobi_items needs complex_absolute_numbers complex_reflector_numbers complex_matrix_items jacobi_items
// Section jacobi_items for complex matrices.
