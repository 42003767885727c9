#include "runtime/cuda/libraries/cublas.h"

#include <cstdint>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/base/library.h"
#include "runtime/cuda/devices.h"

namespace heddle::runtime::cublas {

namespace {

using Handle = struct HandleOpaque*;
enum class Status : int { success = 0 };
enum class Operation : int { none = 0, transpose = 1 };
enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, c64 = 4, c128 = 5, bf16 = 14 };
enum class ComputeType : int { f32 = 68, f64 = 70, f32_as_bf16 = 75, f32_as_tf32 = 77 };
constexpr int default_algorithm = -1;
/// Keeps partial sums of half precision products in f32 when the product is split along its depth.
constexpr int math_default_without_reduced_reduction = 16;

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
};

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_CUBLAS(name) library.bind(api.name, #name, missing)
  HEDDLE_CUBLAS(cublasCreate_v2);
  HEDDLE_CUBLAS(cublasSetStream_v2);
  HEDDLE_CUBLAS(cublasSetWorkspace_v2);
  HEDDLE_CUBLAS(cublasSetMathMode);
  HEDDLE_CUBLAS(cublasGetStatusString);
  HEDDLE_CUBLAS(cublasGemmStridedBatchedEx_64);
#undef HEDDLE_CUBLAS
  return version_by_property(library, "cublasGetProperty");
}

Library<Api>& library() {
  static auto& library = *new Library<Api>(
      {.request = {.title = "cuBLAS",
                   .names = {"libcublas.so.13", "libcublas.so.12"},
                   .packages = {"cublas"},
                   .variable = ir::Variable::cublas},
       .mend =
           "Install cuBLAS 12 or newer (pip install nvidia-cublas), or set HEDDLE_CUBLAS to its "
           "file or HEDDLE_CUDA_PATH to the toolkit.",
       .without = "matrices cannot be multiplied on the GPU",
       .unusable = cuda::unavailable_reason,
       .bind = bind});
  return library;
}

const Api& api() { return library().api(); }

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: {} ({}).{}", call, api().cublasGetStatusString(status),
                                static_cast<int>(status), cuda::describe_loss()));
}

HandlePool<Handle>& handles() {
  static auto& pool = *new HandlePool<Handle>;
  return pool;
}

Handle create() {
  Handle handle = nullptr;
  check(api().cublasCreate_v2(&handle), "cublasCreate");
  check(api().cublasSetMathMode(handle, math_default_without_reduced_reduction),
        "cublasSetMathMode");
  return handle;
}

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return DataType::f64;
    case DType::f16:
      return DataType::f16;
    case DType::bf16:
      return DataType::bf16;
    case DType::c64:
      return DataType::c64;
    case DType::c128:
      return DataType::c128;
    default:
      return DataType::f32;
  }
}

ComputeType compute_type(const Gemm& product) {
  if (real_dtype(product.dtype) == DType::f64) return ComputeType::f64;
  if (!has_precisions(product.operand_dtype()) || product.precision == Precision::ieee)
    return ComputeType::f32;
  const bool as_bf16 = product.precision == Precision::bf16 && !is_complex(product.dtype);
  return as_bf16 ? ComputeType::f32_as_bf16 : ComputeType::f32_as_tf32;
}

}  // namespace

const std::string& unavailable_reason() { return library().unavailable_reason(); }

std::size_t workspace_bytes(int ordinal) {
  // Sizes that cuBLAS's manual recommends, for Hopper and newer and for older GPUs.
  const std::string& architecture = target_of({DeviceKind::cuda, ordinal}).architecture;
  const bool hopper = architecture.size() > 5 || architecture >= "sm_90";
  return hopper ? std::size_t{32} << 20 : std::size_t{4} << 20;
}

void gemm(const Gemm& p, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream) {
  const int ordinal = stream.device().ordinal;
  cuda::ContextScope context(ordinal);
  const HandlePool<Handle>::Lease handle(handles(), ordinal, create);
  // Set the stream first: cublasSetStream resets the workspace.
  check(api().cublasSetStream_v2(handle.get(), stream.handle()), "cublasSetStream");
  check(api().cublasSetWorkspace_v2(handle.get(), workspace, workspace_bytes(ordinal)),
        "cublasSetWorkspace");
  const DataType type = data_type(p.dtype), operands = data_type(p.operand_dtype());
  const bool wide = real_dtype(p.dtype) == DType::f64;
  // A complex factor uses both numbers; a real one uses the first.
  const float one[] = {1, 0}, zero[] = {0, 0};
  const double wide_one[] = {1, 0}, wide_zero[] = {0, 0};
  auto operation = [](bool transposed) {
    return transposed ? Operation::transpose : Operation::none;
  };
  // cuBLAS is column-major: it sees every matrix transposed, and out^T = b^T a^T.
  check(api().cublasGemmStridedBatchedEx_64(
            handle.get(), operation(p.b_transposed), operation(p.a_transposed), p.columns, p.rows,
            p.depth, wide ? static_cast<const void*>(wide_one) : one, b, operands, p.b_leading,
            p.b_batch_stride, a, operands, p.a_leading, p.a_batch_stride,
            wide ? static_cast<const void*>(wide_zero) : zero, out, type, p.columns,
            p.out_batch_stride, p.batch, compute_type(p), default_algorithm),
        "cublasGemmStridedBatchedEx_64");
}

}  // namespace heddle::runtime::cublas
