#include "runtime/calls/cholesky.h"
#include "runtime/cuda/matrix_calls.h"

namespace heddle::runtime::cuda {

namespace {

class CusolverCholesky final : public PreparedCholesky {
 public:
  using PreparedCholesky::PreparedCholesky;

 private:
  void factorise(void* matrices, std::int32_t* infos, const CallBuffers& frame) const override {
    cusolver::cholesky(dtype_, upper_, rows_, batch_, matrices, infos, workspace_of(frame),
                       frame.stream());
  }
};

}  // namespace

const CallHandler& cholesky_handler() {
  static const MatrixCallHandler<CusolverCholesky> handler;
  return handler;
}

}  // namespace heddle::runtime::cuda
