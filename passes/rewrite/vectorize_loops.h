#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Replaces loops whose steps are independent of each other by their ops on all steps at once: each
/// value of a step gets a leading axis of steps, slices become slices with a step, and what the
/// steps write is written at once. Products with a matrix that is the same in all steps become one
/// product. Loops stay whose steps hold an op that takes no such axis, or whose values, for all
/// steps, are much larger than what the loop reads and writes. Where a step needs what the step
/// before it has written, an elementwise loop carries that instead of arrays (carried_parts.h).
/// nullopt if all loops stay.
std::optional<ir::Graph> vectorize_loops(const ir::Graph& graph);

enum class LoopForm : std::uint8_t { none, of_parts, of_arrays };
/// What vectorize_loops() would make of a control.scan of such operands: no loop, a loop that
/// carries parts of arrays, or the same loop.
LoopForm form_of_loop(const ir::CallData& scan, const std::vector<ir::Type>& operands);

}  // namespace heddle::passes
