#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite/step_accesses.h"

namespace heddle::passes {

/// The results of a loop whose steps are independent, given its operands: its ops on all steps at
/// once, added to the graph. nullopt if an op takes no axis of steps, or the values of all steps
/// would be much larger than what the loop reads.
std::optional<std::vector<ir::ValueId>> all_steps(ir::Graph& graph, const ir::CallData& scan,
                                                  const StepAccesses& steps,
                                                  const std::vector<ir::ValueId>& operands);

}  // namespace heddle::passes
