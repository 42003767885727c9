#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"

#include "runtime/base/library.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/stream.h"

// cuBLAS as the files of its groups of routines need it: the table of functions, handles, and
// errors. Matrices are column-major.

namespace heddle::runtime::cublas {

using Handle = struct HandleOpaque*;
enum class Status : int { success = 0 };
enum class Operation : int { none = 0, transpose = 1, conjugate_transpose = 2 };
enum class Side : int { left = 0, right = 1 };
enum class Fill : int { lower = 0, upper = 1 };
enum class Diagonal : int { non_unit = 0, unit = 1 };
enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, c64 = 4, c128 = 5, bf16 = 14 };
enum class ComputeType : int { f32 = 68, f64 = 70, f32_as_bf16 = 75, f32_as_tf32 = 77 };

/// Routines of one element type: `matrices` points to device memory with the matrices'
/// addresses, as do `b` and `tau`.
struct Routines {
  Status (*getrf)(Handle handle, int n, void** matrices, int leading, int* pivots, int* infos,
                  int batch) = nullptr;
  /// `info` is in host memory, and says which argument is wrong.
  Status (*getrs)(Handle handle, Operation operation, int n, int columns, const void* const* lu,
                  int leading, const int* pivots, void** b, int b_leading, int* info,
                  int batch) = nullptr;
  Status (*geqrf)(Handle handle, int m, int n, void** matrices, int leading, void** tau, int* info,
                  int batch) = nullptr;
  Status (*trsm)(Handle handle, Side side, Fill triangle, Operation operation, Diagonal diagonal,
                 int m, int n, const void* factor, const void* const* matrices, int leading,
                 void** b, int b_leading, int batch) = nullptr;
  /// One system, with 64-bit extents.
  Status (*trsm_single)(Handle handle, Side side, Fill triangle, Operation operation,
                        Diagonal diagonal, std::int64_t m, std::int64_t n, const void* factor,
                        const void* matrix, std::int64_t leading, void* b,
                        std::int64_t b_leading) = nullptr;
};

struct Api {
  Status (*cublasCreate_v2)(Handle* handle) = nullptr;
  Status (*cublasSetStream_v2)(Handle handle, cuda::StreamHandle stream) = nullptr;
  Status (*cublasSetWorkspace_v2)(Handle handle, void* workspace, std::size_t bytes) = nullptr;
  Status (*cublasSetMathMode)(Handle handle, int mode) = nullptr;
  const char* (*cublasGetStatusString)(Status status) = nullptr;
  Status (*cublasGemmStridedBatchedEx_64)(
      Handle handle, Operation a_operation, Operation b_operation, std::int64_t m, std::int64_t n,
      std::int64_t k, const void* alpha, const void* a, DataType a_type, std::int64_t lda,
      long long a_stride, const void* b, DataType b_type, std::int64_t ldb, long long b_stride,
      const void* beta, void* c, DataType c_type, std::int64_t ldc, long long c_stride,
      std::int64_t batch, ComputeType compute, int algorithm) = nullptr;
  Routines f32, f64, c64, c128;
};

/// Throws DeviceError if the library cannot be used.
const Api& api();
/// The routines of f32, f64, c64 or c128.
const Routines& routines(DType dtype);
/// Throws DeviceError that names the call unless it succeeded.
void check(Status status, const char* call);

/// Calls of cuBLAS on a stream: while an instance lives, the stream's GPU is current and the handle
/// belongs to this thread. Throws DeviceError.
class Session {
 public:
  explicit Session(const Stream& stream);
  Handle handle() const { return lease_.get(); }

 private:
  cuda::ContextScope context_;
  HandlePool<Handle>::Lease lease_;
};

}  // namespace heddle::runtime::cublas
