#pragma once

#include <cstdint>

#include "ir/graph/graph.h"
#include "passes/rewrite/stepped_region.h"

namespace heddle::passes {

/// Whether step_slices() can take the region of an array: if it moves along several axes, it has
/// one element along each of these. Windows are taken of arrays with constant extents.
bool can_slice_steps(const SteppedRegion& region, const ir::Shape& array);

/// What a loop's steps read of an array, [steps, region ...], or [region ...] if that does not
/// move. Only views.
ir::ValueId step_slices(ir::Graph& graph, ir::ValueId array, const SteppedRegion& region,
                        std::int64_t steps, const ir::Location& location);

/// Whether with_step_slices() can take the region: it has one element along the axis.
bool can_write_steps(const SteppedRegion& region);

/// The array with what the steps write, [steps, region ...].
ir::ValueId with_step_slices(ir::Graph& graph, ir::ValueId array, ir::ValueId values,
                             const SteppedRegion& region, std::int64_t steps,
                             const ir::Location& location);

}  // namespace heddle::passes
