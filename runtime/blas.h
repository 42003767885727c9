#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heddle/dtype.h"
#include "heddle/precision.h"

#include "ir/target.h"
#include "runtime/stream.h"

namespace heddle::runtime {

/// out[i] = a[i] x b[i] for i in [0, batch): (rows, depth) x (depth, columns) -> (rows, columns),
/// row-major. A transposed operand is stored as its transpose. `leading` counts elements between
/// rows as stored; out's rows are dense. A batch stride of 0 repeats an operand.
struct Gemm {
  DType dtype = DType::f32;
  Precision precision = Precision::ieee;  ///< of f32 and c64 on CUDA
  std::int64_t rows = 0, columns = 0, depth = 0, batch = 1;
  std::int64_t a_leading = 0, b_leading = 0;
  bool a_transposed = false, b_transposed = false;
  std::int64_t a_batch_stride = 0, b_batch_stride = 0, out_batch_stride = 0;
};

/// Whether the libraries of this kind of target multiply this dtype at all. f32 and f64 are as
/// IEEE says, f32 and c64 on CUDA where no lower precision is asked for; f16 and bf16 (CUDA only)
/// accumulate in f32.
bool blas_supported(ir::TargetKind target, DType dtype);
/// Whether the library is here. Loads it; never throws.
bool blas_available(Device device);
/// Why it is not, with every place tried; empty when it is.
std::string blas_unavailable_reason(Device device);

/// What gemm wants to be given on this device. Equal results need equal workspaces.
std::size_t blas_workspace_bytes(Device device);

/// Enqueues a product on the stream. Where depth is 0 the result is 0. Operands lie on the stream's
/// device; `workspace` has blas_workspace_bytes there and is in use until the work is done. Throws
/// DeviceError when the library is missing or fails.
void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream);

}  // namespace heddle::runtime
