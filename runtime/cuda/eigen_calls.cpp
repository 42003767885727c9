#include "runtime/calls/eigen.h"
#include "runtime/cuda/libraries/cusolver_spectral.h"
#include "runtime/cuda/matrix_calls.h"

namespace heddle::runtime::cuda {

namespace {

template <class Prepared>
class CusolverHermitian final : public Prepared {
 public:
  using Prepared::Prepared;

 private:
  void solve(bool vectors, void* matrices, void* values, std::int32_t* statuses,
             const CallBuffers& frame) const override {
    cusolver::eigh(this->dtype_, this->upper_, vectors, this->rows_, this->batch_, matrices, values,
                   statuses, workspace_of(frame), frame.stream());
  }
};

template <bool vectors>
class CusolverEig final : public PreparedEig<vectors> {
 public:
  using PreparedEig<vectors>::PreparedEig;

 private:
  void solve(void* matrices, void* values, void* rows, std::int32_t* statuses,
             const CallBuffers& frame) const override {
    cusolver::eig(this->dtype_, this->rows_, this->batch_, matrices, values, rows, statuses,
                  workspace_of(frame), frame.stream());
  }
};

}  // namespace

const CallHandler& eigh_handler() {
  static const MatrixCallHandler<CusolverHermitian<PreparedEigh>> handler;
  return handler;
}

const CallHandler& eigvalsh_handler() {
  static const MatrixCallHandler<CusolverHermitian<PreparedEigvalsh>> handler;
  return handler;
}

const CallHandler& eig_handler() {
  static const MatrixCallHandler<CusolverEig<true>> handler;
  return handler;
}

const CallHandler& eigvals_handler() {
  static const MatrixCallHandler<CusolverEig<false>> handler;
  return handler;
}

}  // namespace heddle::runtime::cuda
