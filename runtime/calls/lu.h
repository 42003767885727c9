#pragma once

#include <algorithm>

#include "runtime/calls/matrix_call.h"

namespace heddle::runtime {

/// linalg.lu: factorises the matrices in the result's memory. Operand 0 is transposed, so that a
/// matrix has `columns_` rows.
class PreparedLu : public MatrixCall {
 public:
  PreparedLu(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 2) {}

 protected:
  void compute(const CallBuffers& frame) const override {
    factorise(operand_in_result(0, 0, stack_bytes(rows_, columns_), frame), integers(1, frame),
              integers(2, frame), frame);
  }
  virtual void factorise(void* matrices, std::int32_t* pivots, std::int32_t* infos,
                         const CallBuffers& frame) const = 0;
};

/// linalg.solve: solves in the memory of the solution. Both operands may be one array, so both are
/// copied before anything is overwritten.
class PreparedSolve : public MatrixCall {
 public:
  PreparedSolve(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 3),
        transposed_(step.values.flag("transposed")),
        sides_(step.values.size("rows_1").evaluate(bindings)) {}

 protected:
  void compute(const CallBuffers& frame) const override {
    void* const x = operand_in_result(0, 1, stack_bytes(sides_, rows_), frame);
    void* const a = operand_in_result(1, 0, stack_bytes(rows_, rows_), frame);
    solve(a, integers(2, frame), x, integers(3, frame), frame);
  }
  /// Replaces b by the solution.
  virtual void solve(void* a, std::int32_t* pivots, void* b, std::int32_t* infos,
                     const CallBuffers& frame) const = 0;

  bool transposed_;
  std::int64_t sides_;  ///< the number of right-hand sides of a matrix
};

}  // namespace heddle::runtime
