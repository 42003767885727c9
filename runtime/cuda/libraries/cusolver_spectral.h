#pragma once

#include <cstdint>

#include "heddle/dtype.h"

#include "runtime/cuda/libraries/cusolver.h"

// Singular values and eigenvalues by cuSOLVER, for stacks of matrices in C order whose elements are
// finite. The matrices are overwritten. Statuses are 0, or positive if values did not converge;
// then the results are undefined. All throw DeviceError if the library is missing or fails.

namespace heddle::runtime::cusolver {

struct SvdResults {
  void* u = nullptr;
  void* s = nullptr;
  void* vh = nullptr;
  std::int32_t* statuses = nullptr;
};

/// The largest extent of matrices of which one call takes a stack, by Jacobi's method.
inline constexpr std::int64_t jacobi_extent = 32;

/// Of [batch, m, n] matrices with m <= n: u [batch, m, m], s [batch, m], vh [batch, n, n] if
/// `full`, else [batch, m, n]. Without vectors, u and vh are null.
void svd(DType dtype, bool full, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
         const SvdResults& results, const Allocate& allocate, const Stream& stream);
/// By Jacobi's method, matrices of any shape: s [batch, k] with k = min(m, n). `u` gets the
/// conjugate transposes of u, [batch, m, m] if `full`, else [batch, k, m]; `vh` is [batch, n, n] or
/// [batch, k, n].
void svd_jacobi(DType dtype, bool full, std::int64_t m, std::int64_t n, std::int64_t batch,
                void* matrices, const SvdResults& results, const Allocate& allocate,
                const Stream& stream);
/// The same with `full`, all matrices by one call. m and n are at most jacobi_extent. Without
/// vectors, u and vh are null.
void svd_stack(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
               const SvdResults& results, const Allocate& allocate, const Stream& stream);

/// As lapack::eigh.
void eigh(DType dtype, bool upper, bool vectors, std::int64_t n, std::int64_t batch, void* matrices,
          void* w, std::int32_t* statuses, const Allocate& allocate, const Stream& stream);
/// As lapack::eig. DeviceError before cuSOLVER 11.7.1. Waits for the stream.
void eig(DType dtype, std::int64_t n, std::int64_t batch, void* matrices, void* w, void* rows,
         std::int32_t* statuses, const Allocate& allocate, const Stream& stream);

}  // namespace heddle::runtime::cusolver
