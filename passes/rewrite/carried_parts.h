#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite/step_accesses.h"

namespace heddle::passes {

/// A loop that carries, instead of arrays, the parts of them that a step passes on to the next.
/// What it reads of arrays are sequences; what it writes is stacked, and written to the arrays
/// after the loop. So the loop can run inside a kernel. Returns the results of the old loop, given
/// its operands. nullopt if the steps are not elementwise, or write regions that cannot be written
/// at once.
std::optional<std::vector<ir::ValueId>> carry_parts(ir::Graph& graph, const ir::CallData& scan,
                                                    const StepAccesses& steps,
                                                    const std::vector<ir::ValueId>& operands);

}  // namespace heddle::passes
