#pragma once

#include "runtime/calls/matrix_call.h"
#include "runtime/libraries/triangular.h"

namespace heddle::runtime {

/// linalg.solve_triangular: solves in the memory of the solution.
class PreparedSolveTriangular : public MatrixCall {
 public:
  PreparedSolveTriangular(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, {}),
        system_{.dtype = dtype_,
                .lower = step.values.flag("lower"),
                .unit = step.values.flag("unit"),
                .transpose = transpose_of(step.values.text("transpose")),
                .n = rows_,
                .columns = step.values.size("columns_1").evaluate(bindings),
                .batch = batch_} {}

 protected:
  void compute(const CallBuffers& frame) const override {
    if (system_.columns == 0) return;
    solve(operand(0, frame), operand_in_result(0, 1, stack_bytes(rows_, system_.columns), frame),
          frame);
  }
  /// Replaces b by the solution.
  virtual void solve(const void* a, void* b, const CallBuffers& frame) const = 0;

  TriangularSystem system_;

 private:
  static TriangularSystem::Transpose transpose_of(const std::string& name) {
    using Transpose = TriangularSystem::Transpose;
    if (name == "none") return Transpose::none;
    return name == "transpose" ? Transpose::transpose : Transpose::conjugate;
  }
};

}  // namespace heddle::runtime
