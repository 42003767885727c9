#include "runtime/cuda/libraries/cublas.h"

#include "runtime/cuda/libraries/cublas_library.h"

namespace heddle::runtime::cublas {

namespace {

constexpr int default_algorithm = -1;

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

std::size_t workspace_bytes(int ordinal) {
  // Sizes that cuBLAS's manual recommends, for Hopper and newer and for older GPUs.
  const std::string& architecture = target_of({DeviceKind::cuda, ordinal}).architecture;
  const bool hopper = architecture.size() > 5 || architecture >= "sm_90";
  return hopper ? std::size_t{32} << 20 : std::size_t{4} << 20;
}

void gemm(const Gemm& p, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream) {
  const int ordinal = stream.device().ordinal;
  const Session session(stream);
  check(api().cublasSetWorkspace_v2(session.handle(), workspace, workspace_bytes(ordinal)),
        "cublasSetWorkspace");
  const DataType type = data_type(p.dtype), operands = data_type(p.operand_dtype());
  const bool wide = real_dtype(p.dtype) == DType::f64;
  // A complex factor uses both numbers; a real one uses the first.
  const float one[] = {1, 0}, zero[] = {0, 0};
  const double wide_one[] = {1, 0}, wide_zero[] = {0, 0};
  auto operation = [](bool transposed, bool conjugated) {
    if (!transposed) return Operation::none;
    return conjugated ? Operation::conjugate_transpose : Operation::transpose;
  };
  // cuBLAS is column-major: it sees every matrix transposed, and out^T = b^T a^T.
  check(api().cublasGemmStridedBatchedEx_64(
            session.handle(), operation(p.b_transposed, p.b_conjugated),
            operation(p.a_transposed, p.a_conjugated), p.columns, p.rows, p.depth,
            wide ? static_cast<const void*>(wide_one) : one, b, operands, p.b_leading,
            p.b_batch_stride, a, operands, p.a_leading, p.a_batch_stride,
            wide ? static_cast<const void*>(wide_zero) : zero, out, type, p.columns,
            p.out_batch_stride, p.batch, compute_type(p), default_algorithm),
        "cublasGemmStridedBatchedEx_64");
}

}  // namespace heddle::runtime::cublas
