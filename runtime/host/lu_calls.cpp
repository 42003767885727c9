#include "runtime/calls/lu.h"
#include "runtime/host/libraries/lapack.h"
#include "runtime/host/matrix_calls.h"

namespace heddle::runtime::host {

namespace {

class LapackLu final : public PreparedLu {
 public:
  using PreparedLu::PreparedLu;

 private:
  void factorise(void* matrices, std::int32_t* pivots, std::int32_t* infos,
                 const CallBuffers&) const override {
    lapack::lu(dtype_, columns_, rows_, batch_, matrices, pivots, infos);
  }
};

class LapackSolve final : public PreparedSolve {
 public:
  using PreparedSolve::PreparedSolve;

 private:
  void solve(void* a, std::int32_t* pivots, void* b, std::int32_t* infos,
             const CallBuffers&) const override {
    lapack::solve(dtype_, transposed_, rows_, sides_, batch_, a, pivots, b, infos);
  }
};

}  // namespace

const CallHandler& lu_handler() {
  static const MatrixCallHandler<LapackLu> handler;
  return handler;
}

const CallHandler& solve_handler() {
  static const MatrixCallHandler<LapackSolve> handler;
  return handler;
}

}  // namespace heddle::runtime::host
