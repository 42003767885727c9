#include "runtime/calls/qr.h"
#include "runtime/cuda/matrix_calls.h"

namespace heddle::runtime::cuda {

namespace {

class CusolverGeqrf final : public PreparedGeqrf {
 public:
  using PreparedGeqrf::PreparedGeqrf;

 private:
  void factorise(void* matrices, void* taus, const CallBuffers& frame) const override {
    cusolver::geqrf(dtype_, columns_, rows_, batch_, matrices, taus, workspace_of(frame),
                    frame.stream());
  }
};

class CusolverHouseholderProduct final : public PreparedHouseholderProduct {
 public:
  using PreparedHouseholderProduct::PreparedHouseholderProduct;

 private:
  void multiply(void* matrices, const void* taus, const CallBuffers& frame) const override {
    cusolver::householder_product(dtype_, columns_, rows_, reflectors_, batch_, matrices, taus,
                                  workspace_of(frame), frame.stream());
  }
};

}  // namespace

const CallHandler& geqrf_handler() {
  static const MatrixCallHandler<CusolverGeqrf> handler;
  return handler;
}

const CallHandler& householder_product_handler() {
  static const MatrixCallHandler<CusolverHouseholderProduct> handler;
  return handler;
}

}  // namespace heddle::runtime::cuda
