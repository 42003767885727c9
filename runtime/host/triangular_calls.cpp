#include "runtime/calls/solve_triangular.h"
#include "runtime/host/libraries/lapack.h"
#include "runtime/host/matrix_calls.h"

namespace heddle::runtime::host {

namespace {

class LapackSolveTriangular final : public PreparedSolveTriangular {
 public:
  using PreparedSolveTriangular::PreparedSolveTriangular;

 private:
  void solve(const void* a, void* b, const CallBuffers&) const override {
    lapack::solve_triangular(system_, a, b);
  }
};

}  // namespace

const CallHandler& solve_triangular_handler() {
  static const MatrixCallHandler<LapackSolveTriangular> handler;
  return handler;
}

}  // namespace heddle::runtime::host
