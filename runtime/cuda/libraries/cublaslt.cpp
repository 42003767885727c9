#include "runtime/cuda/libraries/cublaslt.h"

#include "runtime/cuda/devices.h"
#include "runtime/cuda/libraries/cublaslt_choice.h"

namespace heddle::runtime::cublaslt {

bool gemm(const Gemm& product, const GemmEpilogue& epilogue, const void* a, const void* b,
          void* out, void* workspace, std::size_t workspace_bytes, const Stream& stream) {
  if (is_complex(product.dtype) || !unavailable_reason().empty()) return false;
  const int ordinal = stream.device().ordinal;
  cuda::ContextScope context(ordinal);
  const Handle handle = handle_of(ordinal);
  if (handle == nullptr) return false;
  const Problem problem = problem_of(product, epilogue, a, b, out, ordinal);
  const Description description = describe(problem, epilogue.bias);
  const double wide_beta = epilogue.residual != nullptr ? epilogue.beta : 0;
  const auto alpha = static_cast<float>(epilogue.alpha), beta = static_cast<float>(wide_beta);
  const bool wide = product.dtype == DType::f64;
  const Call call{.handle = handle,
                  .description = description,
                  .a = a,
                  .b = b,
                  .residual = epilogue.residual != nullptr ? epilogue.residual : out,
                  .out = out,
                  .alpha = wide ? static_cast<const void*>(&epilogue.alpha) : &alpha,
                  .beta = wide ? static_cast<const void*>(&wide_beta) : &beta,
                  .workspace = workspace,
                  .workspace_bytes = workspace_bytes,
                  .stream = stream};
  const std::optional<Choice> choice = choice_of(problem, call);
  if (!choice) return false;
  const Status status = call.run(*choice, out);
  if (status == Status::not_supported) return false;
  check(status, "cublasLtMatmul");
  return true;
}

}  // namespace heddle::runtime::cublaslt
