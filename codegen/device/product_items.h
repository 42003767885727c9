#pragma once
//! section product_items needs matrix_items
// The product of an `M` by `K` and a `K` by `N` matrix. It overwrites the second one. A lane has
// neighbouring rows of it in registers.
template <class T, int M, int K, int N, int Width>
__device__ __forceinline__ void product_item(SharedArray<T> a, SharedArray<T> b, SharedArray<T>,
                                             int lane) {
  constexpr int rows = (M + Width - 1) / Width;
  T sum[rows][N];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int j = 0; j < N; ++j) sum[r][j] = T(0);
  }
  const int first = lane * rows;
#pragma unroll 4
  for (int k = 0; k < K; ++k) {
    T left[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r)
      left[r] = first + r < M ? matrix_load(a, (first + r) * K + k) : T(0);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const T right = matrix_load(b, k * N + j);
#pragma unroll
      for (int r = 0; r < rows; ++r) sum[r][j] = matrix_add_product(sum[r][j], left[r], right);
    }
  }
  warp_barrier();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      if (first + r < M) matrix_store(b, (first + r) * N + j, sum[r][j]);
    }
  }
  block_barrier();
}

//! section complex_product_items needs complex_matrix_items product_items
// Section product_items for complex matrices.

//! section product_items_host needs matrix_items_host
//! host
// `W` real numbers.
template <class Part, int W>
struct ProductVector {
  typedef Part Type __attribute__((vector_size(W * sizeof(Part))));
};
template <class Part>
struct ProductVector<Part, 1> {
  typedef Part Type;
};

// Columns of a product, from column `J` on, where columns are real numbers: a complex matrix has
// twice as many (`Parts` = 2), which are multiplied by the real and by the imaginary parts of `a`.
template <class Part, int Parts, int M, int K, int N, int J>
inline void product_columns(const Part* a, const Part* b, Part* c) {
  constexpr int most = 32 / sizeof(Part), left = N - J, rows = 4;
  constexpr int half = left >= 4 ? 4 : left >= 2 ? 2 : 1;
  constexpr int width = left >= most ? most : half;
  using V = typename ProductVector<Part, width>::Type;
  for (int first = 0; first < M; first += rows) {
    V sums[Parts][rows] = {};
    const Part* own[rows];
    for (int r = 0; r < rows; ++r) own[r] = a + (first + r < M ? first + r : M - 1) * K * Parts;
    for (int k = 0; k < K; ++k) {
      V right;
      __builtin_memcpy(&right, b + k * N + J, sizeof right);
      for (int r = 0; r < rows; ++r) {
        for (int p = 0; p < Parts; ++p) sums[p][r] += own[r][k * Parts + p] * right;
      }
    }
    for (int r = 0; r < rows && first + r < M; ++r) {
      Part* const to = c + (first + r) * N + J;
      if constexpr (Parts == 2) {
        for (int l = 0; l < width; l += 2) {
          to[l] = sums[0][r][l] - sums[1][r][l + 1];
          to[l + 1] = sums[0][r][l + 1] + sums[1][r][l];
        }
      } else {
        __builtin_memcpy(to, &sums[0][r], sizeof(V));
      }
    }
  }
  if constexpr (width < left) product_columns<Part, Parts, M, K, N, J + width>(a, b, c);
}

// The product of an `M` by `K` and a `K` by `N` matrix.
template <class T, int M, int K, int N>
inline void product_item(const T* a, const T* b, T* c) {
  using Part = MatrixPart<T>;
  constexpr int parts = sizeof(T) / sizeof(Part);
  product_columns<Part, parts, M, K, N * parts, 0>(reinterpret_cast<const Part*>(a),
                                                   reinterpret_cast<const Part*>(b),
                                                   reinterpret_cast<Part*>(c));
}

//! section complex_product_items_host needs complex_matrix_items_host product_items_host
//! host
// Section product_items_host for complex matrices.
