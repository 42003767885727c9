#include "runtime/calls/svd.h"
#include "runtime/host/libraries/lapack_spectral.h"
#include "runtime/host/matrix_calls.h"

namespace heddle::runtime::host {

namespace {

class LapackSvd final : public PreparedSvd {
 public:
  using PreparedSvd::PreparedSvd;

 private:
  void compute(const CallBuffers& frame) const override {
    lapack::svd(dtype_, full_, rows_, columns_, batch_, operand(0, frame),
                {result(0, frame), result(1, frame), result(2, frame), integers(3, frame)});
  }
};

/// Results: s and the statuses.
class LapackSvdvals final : public MatrixCall {
 public:
  LapackSvdvals(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 1) {}

 private:
  void compute(const CallBuffers& frame) const override {
    lapack::svd(dtype_, false, rows_, columns_, batch_, operand(0, frame),
                {.s = result(0, frame), .statuses = integers(1, frame)});
  }
};

}  // namespace

const CallHandler& svd_handler() {
  static const MatrixCallHandler<LapackSvd> handler;
  return handler;
}

const CallHandler& svdvals_handler() {
  static const MatrixCallHandler<LapackSvdvals> handler;
  return handler;
}

}  // namespace heddle::runtime::host
