#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "heddle/dtype.h"

#include "runtime/device/memory.h"
#include "runtime/device/stream.h"
#include "runtime/libraries/triangular.h"

// cuSOLVER, for matrices in C order on the stream's GPU.

namespace heddle::runtime::cusolver {

/// Why it cannot be used; empty if it can.
const std::string& unavailable_reason();

/// Allocates a workspace on the stream's device.
using Allocate = std::function<BufferRef(std::size_t bytes)>;

/// Enqueues a factorisation as defined by lapack::cholesky. Throws DeviceError if the library is
/// missing or fails.
void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos, const Allocate& allocate, const Stream& stream);

/// Enqueues what lapack::lu and lapack::solve do. Batches of small square matrices are computed by
/// cuBLAS.
void lu(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
        std::int32_t* pivots, std::int32_t* infos, const Allocate& allocate, const Stream& stream);
void solve(DType dtype, bool transposed, std::int64_t n, std::int64_t columns, std::int64_t batch,
           void* a, std::int32_t* pivots, void* b, std::int32_t* infos, const Allocate& allocate,
           const Stream& stream);

/// Enqueue what lapack::geqrf, lapack::householder_product and lapack::solve_triangular do. cuBLAS
/// factorises batches of small matrices and solves triangular systems.
void geqrf(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
           void* taus, const Allocate& allocate, const Stream& stream);
void householder_product(DType dtype, std::int64_t m, std::int64_t columns, std::int64_t reflectors,
                         std::int64_t batch, void* matrices, const void* taus,
                         const Allocate& allocate, const Stream& stream);
void solve_triangular(const TriangularSystem& system, const void* a, void* b,
                      const Allocate& allocate, const Stream& stream);

}  // namespace heddle::runtime::cusolver
