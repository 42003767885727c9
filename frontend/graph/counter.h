#pragma once

#include <cstdint>
#include <optional>

#include "frontend/graph/node.h"
#include "ir/types/dim.h"

// Integers computed from the counter of the loop whose body is being traced. As starts of slices
// they are known to the planner, unlike integers in memory.

namespace heddle::frontend {

/// The value as an expression of the current trace's counter, for sums, differences and products of
/// the counter with constants. nullopt for other values, and outside of a loop's body.
std::optional<ir::Dim> counter_expression(const Node& node);

/// The first element of a slice of `count` ones, counted from the end if it is negative in all
/// steps. nullopt if the slice may leave an axis of this extent in some step.
std::optional<ir::Dim> start_of_count(ir::Dim first, ir::Dim count, ir::Dim extent);

/// a - b, if that is the same in all steps: both are counter expressions, perhaps of loops around
/// the current one.
std::optional<std::int64_t> counted_distance(const Node& a, const Node& b);

}  // namespace heddle::frontend
