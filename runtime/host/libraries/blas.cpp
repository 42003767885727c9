#include "runtime/host/libraries/blas.h"

#include "runtime/host/libraries/openblas.h"
#include "runtime/host/libraries/vector_product.h"

namespace heddle::runtime::host {

namespace {

class HostBlas final : public Blas {
 public:
  constexpr HostBlas() : Blas(false) {}

  bool multiplies(DType dtype) const override {
    switch (dtype) {
      case DType::f32:
      case DType::f64:
      case DType::c64:
      case DType::c128:
        return true;
      default:
        return false;
    }
  }
  const std::string& unavailable_reason() const override { return openblas::unavailable_reason(); }
  std::size_t workspace_bytes(int) const override { return 0; }
  void gemm(const Gemm& product, const void* a, const void* b, void* out, void*,
            const Stream&) const override {
    if (!multiply_vector_by_rows(product, a, b, out)) openblas::gemm(product, a, b, out);
  }
  bool has_fixed_order(const Gemm& product) const override { return is_vector_by_rows(product); }
  const std::string& epilogues_unavailable_reason() const override {
    static const std::string& reason =
        *new std::string("OpenBLAS does not support products with an epilogue");
    return reason;
  }
  bool gemm_with_epilogue(const Gemm&, const GemmEpilogue&, const void*, const void*, void*, void*,
                          const Stream&) const override {
    return false;
  }
};

constinit const HostBlas instance;

}  // namespace

const Blas& blas() { return instance; }

}  // namespace heddle::runtime::host
