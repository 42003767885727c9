#include "runtime/calls/cholesky.h"
#include "runtime/host/libraries/lapack.h"
#include "runtime/host/matrix_calls.h"

namespace heddle::runtime::host {

namespace {

class LapackCholesky final : public PreparedCholesky {
 public:
  using PreparedCholesky::PreparedCholesky;

 private:
  void factorise(void* matrices, std::int32_t* infos, const CallBuffers&) const override {
    lapack::cholesky(dtype_, upper_, rows_, batch_, matrices, infos);
  }
};

}  // namespace

const CallHandler& cholesky_handler() {
  static const MatrixCallHandler<LapackCholesky> handler;
  return handler;
}

}  // namespace heddle::runtime::host
