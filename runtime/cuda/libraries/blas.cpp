#include "runtime/cuda/libraries/blas.h"

#include "runtime/cuda/libraries/cublas.h"
#include "runtime/cuda/libraries/cublaslt.h"
#include "runtime/libraries/autotune.h"

namespace heddle::runtime::cuda {

namespace {

class CudaBlas final : public Blas {
 public:
  constexpr CudaBlas() : Blas(true) {}

  bool multiplies(DType dtype) const override {
    switch (dtype) {
      case DType::f32:
      case DType::f64:
      case DType::c64:
      case DType::c128:
      case DType::f16:
      case DType::bf16:
        return true;
      default:
        return false;
    }
  }
  const std::string& unavailable_reason() const override { return cublas::unavailable_reason(); }
  std::size_t workspace_bytes(int ordinal) const override {
    return cublas::workspace_bytes(ordinal);
  }
  void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
            const Stream& stream) const override {
    // Only cuBLASLt can enumerate algorithms.
    if (autotuning() && gemm_with_epilogue(product, {}, a, b, out, workspace, stream)) return;
    cublas::gemm(product, a, b, out, workspace, stream);
  }
  bool has_fixed_order(const Gemm&) const override { return false; }
  const std::string& epilogues_unavailable_reason() const override {
    return cublaslt::unavailable_reason();
  }
  bool gemm_with_epilogue(const Gemm& product, const GemmEpilogue& epilogue, const void* a,
                          const void* b, void* out, void* workspace,
                          const Stream& stream) const override {
    return cublaslt::gemm(product, epilogue, a, b, out, workspace,
                          workspace_bytes(stream.device().ordinal), stream);
  }
};

constinit const CudaBlas instance;

}  // namespace

const Blas& blas() { return instance; }

}  // namespace heddle::runtime::cuda
