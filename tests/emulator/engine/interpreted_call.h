#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/interpreter/host_array.h"
#include "passes/program/step.h"

namespace heddle::emulator {

/// A call that a library runs, as the interpreter evaluates it: of the op that its handler is named
/// after, on dense matrices [batch, rows, columns].
class InterpretedCall {
 public:
  using Number = std::function<double(const passes::Factor&)>;

  /// `number` evaluates the factors among the call's values. Throws EmulationError for a handler
  /// that is named after no op, and for values that say nothing of its operands.
  InterpretedCall(const passes::CallStep& step, const ir::SymbolBindings& bindings,
                  const Number& number);

  const std::vector<ir::Type>& operands() const { return operands_; }
  const std::vector<ir::Type>& results() const { return results_; }
  std::vector<ir::HostArray> run(std::span<const ir::HostArray> operands) const;

 private:
  ir::Attributes attributes_;
  std::vector<ir::Type> operands_, results_;
};

}  // namespace heddle::emulator
