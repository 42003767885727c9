#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/rewrite/repeated_steps.h"

namespace heddle::passes {

/// Result `operation` of the step `delay` steps before the current one, carried from step to step.
struct Carry {
  std::size_t operation = 0, delay = 1;
  friend bool operator==(const Carry&, const Carry&) = default;
};

/// Steps, with the values that a loop takes, carries and stacks.
struct RolledLoop {
  RepeatedSteps steps;
  std::vector<ir::ValueId> outside;
  std::vector<Carry> carries;        ///< each with its shorter delays before it
  std::vector<std::size_t> stacked;  ///< operations
  bool without_arrays = false;       ///< becomes what loop_without_arrays() makes of it

  std::size_t index_of(Carry carry) const {
    return static_cast<std::size_t>(std::ranges::find(carries, carry) - carries.begin());
  }
};

/// The loop's call of control.scan. Its operands are the values from outside, then the carries.
ir::CallRef scan_of(const RolledLoop& loop, const ir::Graph& graph,
                    const OperationSequence& sequence);
/// The types of these operands.
std::vector<ir::Type> operand_types(const RolledLoop& loop, const ir::Graph& graph,
                                    const OperationSequence& sequence);

}  // namespace heddle::passes
