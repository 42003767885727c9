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

/// The results of a control.scan that need not carry arrays, given its operands: they are added to
/// the graph as ops on all steps, or as a loop that carries parts. nullopt if it must, or if steps
/// do what cannot be known.
std::optional<std::vector<ir::ValueId>> loop_without_arrays(
    ir::Graph& graph, const ir::CallData& scan, const std::vector<ir::ValueId>& operands);

enum class LoopForm : std::uint8_t { none, of_parts, of_arrays };
/// What loop_without_arrays() would make of a control.scan of such operands: no loop, a loop that
/// carries parts of arrays, or nothing, and the loop stays. It stays as well if `outer`, the
/// counter of the loop around it, would be used in a region of what is made.
LoopForm form_of_loop(const ir::CallData& scan, const std::vector<ir::Type>& operands,
                      std::optional<ir::SymbolId> outer);

}  // namespace heddle::passes
