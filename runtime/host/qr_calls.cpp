#include "runtime/calls/qr.h"
#include "runtime/host/libraries/lapack.h"
#include "runtime/host/matrix_calls.h"

namespace heddle::runtime::host {

namespace {

class LapackGeqrf final : public PreparedGeqrf {
 public:
  using PreparedGeqrf::PreparedGeqrf;

 private:
  void factorise(void* matrices, void* taus, const CallBuffers&) const override {
    lapack::geqrf(dtype_, columns_, rows_, batch_, matrices, taus);
  }
};

class LapackHouseholderProduct final : public PreparedHouseholderProduct {
 public:
  using PreparedHouseholderProduct::PreparedHouseholderProduct;

 private:
  void multiply(void* matrices, const void* taus, const CallBuffers&) const override {
    lapack::householder_product(dtype_, columns_, rows_, reflectors_, batch_, matrices, taus);
  }
};

}  // namespace

const CallHandler& geqrf_handler() {
  static const MatrixCallHandler<LapackGeqrf> handler;
  return handler;
}

const CallHandler& householder_product_handler() {
  static const MatrixCallHandler<LapackHouseholderProduct> handler;
  return handler;
}

}  // namespace heddle::runtime::host
