#pragma once

#include "runtime/calls/matrix_call.h"

namespace heddle::runtime {

/// Factorises the matrices in the result's memory.
class PreparedCholesky : public MatrixCall {
 public:
  PreparedCholesky(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 1), upper_(step.values.flag("upper")) {}

 protected:
  void compute(const CallBuffers& frame) const override {
    factorise(operand_in_result(0, 0, stack_bytes(rows_, rows_), frame), integers(1, frame), frame);
  }
  virtual void factorise(void* matrices, std::int32_t* infos, const CallBuffers& frame) const = 0;

  bool upper_;
};

}  // namespace heddle::runtime
