#include "runtime/calls/lu.h"
#include "runtime/cuda/matrix_calls.h"

namespace heddle::runtime::cuda {

namespace {

class CusolverLu final : public PreparedLu {
 public:
  using PreparedLu::PreparedLu;

 private:
  void factorise(void* matrices, std::int32_t* pivots, std::int32_t* infos,
                 const CallBuffers& frame) const override {
    cusolver::lu(dtype_, columns_, rows_, batch_, matrices, pivots, infos, workspace_of(frame),
                 frame.stream());
  }
};

class CusolverSolve final : public PreparedSolve {
 public:
  using PreparedSolve::PreparedSolve;

 private:
  void solve(void* a, std::int32_t* pivots, void* b, std::int32_t* infos,
             const CallBuffers& frame) const override {
    cusolver::solve(dtype_, transposed_, rows_, sides_, batch_, a, pivots, b, infos,
                    workspace_of(frame), frame.stream());
  }
};

}  // namespace

const CallHandler& lu_handler() {
  static const MatrixCallHandler<CusolverLu> handler;
  return handler;
}

const CallHandler& solve_handler() {
  static const MatrixCallHandler<CusolverSolve> handler;
  return handler;
}

}  // namespace heddle::runtime::cuda
