#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/interpreter/host_array.h"
#include "passes/program/step.h"

namespace heddle::emulator {

/// A call as the interpreter evaluates it, of the op that its handler is named after. Either a
/// library's, on dense matrices [batch, rows, columns], or a loop or branch, whose bodies the
/// caller runs.
class InterpretedCall {
 public:
  using Number = std::function<double(const passes::Factor&)>;
  /// Runs a body of the step, on inputs in its order.
  using RunBody = std::function<std::vector<ir::HostArray>(std::size_t body,
                                                           std::span<const ir::HostArray> inputs)>;

  /// `number` evaluates the factors among the call's values. Throws EmulationError for a handler
  /// that is named after no op, and for values that say nothing of its operands.
  InterpretedCall(const passes::CallStep& step, const ir::SymbolBindings& bindings,
                  const Number& number);

  const std::vector<ir::Type>& operands() const { return operands_; }
  const std::vector<ir::Type>& results() const { return results_; }
  std::vector<ir::HostArray> run(std::span<const ir::HostArray> operands,
                                 const RunBody& run_body) const;

 private:
  void add_matrices(const passes::CallStep& step, const ir::SymbolBindings& bindings);
  void add_operands_of_bodies(const passes::CallStep& step);

  ir::Attributes attributes_;
  std::vector<ir::Type> operands_, results_;
};

}  // namespace heddle::emulator
