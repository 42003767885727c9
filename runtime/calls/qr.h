#pragma once

#include "runtime/calls/matrix_call.h"

namespace heddle::runtime {

/// linalg.geqrf: factorises the matrices in the result's memory. Operand 0 is transposed, so that a
/// matrix has `columns_` rows.
class PreparedGeqrf : public MatrixCall {
 public:
  PreparedGeqrf(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, {}) {}

 protected:
  void compute(const CallBuffers& frame) const override {
    factorise(operand_in_result(0, 0, stack_bytes(rows_, columns_), frame), result(1, frame),
              frame);
  }
  virtual void factorise(void* matrices, void* taus, const CallBuffers& frame) const = 0;
};

/// linalg.householder_product: replaces the reflectors by the columns of their product.
class PreparedHouseholderProduct : public MatrixCall {
 public:
  PreparedHouseholderProduct(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, {}),
        reflectors_(step.values.size("columns_1").evaluate(bindings)) {}

 protected:
  void compute(const CallBuffers& frame) const override {
    multiply(operand_in_result(0, 0, stack_bytes(rows_, columns_), frame), operand(1, frame),
             frame);
  }
  virtual void multiply(void* matrices, const void* taus, const CallBuffers& frame) const = 0;

  std::int64_t reflectors_;  ///< the number of reflectors of a matrix
};

}  // namespace heddle::runtime
