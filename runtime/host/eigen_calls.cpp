#include "runtime/calls/eigen.h"
#include "runtime/host/libraries/lapack_spectral.h"
#include "runtime/host/matrix_calls.h"

namespace heddle::runtime::host {

namespace {

template <class Prepared>
class LapackHermitian final : public Prepared {
 public:
  using Prepared::Prepared;

 private:
  void solve(bool vectors, void* matrices, void* values, std::int32_t* statuses,
             const CallBuffers&) const override {
    lapack::eigh(this->dtype_, this->upper_, vectors, this->rows_, this->batch_, matrices, values,
                 statuses);
  }
};

template <bool vectors>
class LapackEig final : public PreparedEig<vectors> {
 public:
  using PreparedEig<vectors>::PreparedEig;

 private:
  void solve(void* matrices, void* values, void* rows, std::int32_t* statuses,
             const CallBuffers&) const override {
    lapack::eig(this->dtype_, this->rows_, this->batch_, matrices, values, rows, statuses);
  }
};

}  // namespace

const CallHandler& eigh_handler() {
  static const MatrixCallHandler<LapackHermitian<PreparedEigh>> handler;
  return handler;
}

const CallHandler& eigvalsh_handler() {
  static const MatrixCallHandler<LapackHermitian<PreparedEigvalsh>> handler;
  return handler;
}

const CallHandler& eig_handler() {
  static const MatrixCallHandler<LapackEig<true>> handler;
  return handler;
}

const CallHandler& eigvals_handler() {
  static const MatrixCallHandler<LapackEig<false>> handler;
  return handler;
}

}  // namespace heddle::runtime::host
