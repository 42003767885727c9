#pragma once

#include <memory>
#include <string>

#include "runtime/calls/matrix_call.h"

namespace heddle::runtime {

/// Memory for a copy of operand 0 that the library may overwrite.
inline BufferRef memory_for_copy(const CallBuffers& frame, std::size_t bytes) {
  static const Label& label =
      *new Label(std::make_shared<const std::string>("copy of the matrices of a library call"));
  return frame.allocate(bytes, label);
}

/// Eigenvalues and eigenvectors of Hermitian matrices. Results: eigenvalues, eigenvectors,
/// statuses. The library overwrites the matrices with the eigenvectors.
class PreparedEigh : public MatrixCall {
 public:
  PreparedEigh(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 2), upper_(step.values.flag("upper")) {}

 protected:
  virtual void solve(bool vectors, void* matrices, void* values, std::int32_t* statuses,
                     const CallBuffers& frame) const = 0;
  bool upper_;

 private:
  void compute(const CallBuffers& frame) const final {
    void* const matrices = operand_in_result(1, 0, stack_bytes(rows_, rows_), frame);
    solve(true, matrices, result(0, frame), integers(2, frame), frame);
  }
};

/// Eigenvalues of Hermitian matrices. Results: eigenvalues, statuses.
class PreparedEigvalsh : public MatrixCall {
 public:
  PreparedEigvalsh(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 1), upper_(step.values.flag("upper")) {}

 protected:
  virtual void solve(bool vectors, void* matrices, void* values, std::int32_t* statuses,
                     const CallBuffers& frame) const = 0;
  bool upper_;

 private:
  void compute(const CallBuffers& frame) const final {
    const std::size_t bytes = stack_bytes(rows_, rows_);
    const BufferRef matrices = memory_for_copy(frame, bytes);
    copy_operand(0, matrices->pointer(), bytes, frame);
    solve(false, matrices->pointer(), result(0, frame), integers(1, frame), frame);
  }
};

/// Eigenvalues of square matrices, and with `vectors` their eigenvectors. Results: eigenvalues,
/// eigenvectors (only with `vectors`), statuses.
template <bool vectors>
class PreparedEig : public MatrixCall {
 public:
  PreparedEig(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, vectors ? 2 : 1) {}

 protected:
  /// `rows` gets the eigenvectors, each as a row; it is null without `vectors`.
  virtual void solve(void* matrices, void* values, void* rows, std::int32_t* statuses,
                     const CallBuffers& frame) const = 0;

 private:
  void compute(const CallBuffers& frame) const final {
    const std::size_t bytes = stack_bytes(rows_, rows_);
    const BufferRef matrices = memory_for_copy(frame, bytes);
    copy_operand(0, matrices->pointer(), bytes, frame);
    solve(matrices->pointer(), result(0, frame), vectors ? result(1, frame) : nullptr,
          integers(vectors ? 2 : 1, frame), frame);
  }
};

}  // namespace heddle::runtime
