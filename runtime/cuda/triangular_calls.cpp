#include "runtime/calls/solve_triangular.h"
#include "runtime/cuda/matrix_calls.h"

namespace heddle::runtime::cuda {

namespace {

class CusolverSolveTriangular final : public PreparedSolveTriangular {
 public:
  using PreparedSolveTriangular::PreparedSolveTriangular;

 private:
  void solve(const void* a, void* b, const CallBuffers& frame) const override {
    cusolver::solve_triangular(system_, a, b, workspace_of(frame), frame.stream());
  }
};

}  // namespace

const CallHandler& solve_triangular_handler() {
  static const MatrixCallHandler<CusolverSolveTriangular> handler;
  return handler;
}

}  // namespace heddle::runtime::cuda
