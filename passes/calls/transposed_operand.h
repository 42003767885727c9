#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// Whether the value is a transpose that only exchanges the last two axes.
bool swaps_last_axes(const Graph& graph, ValueId value);

/// The operand as a transpose, if its elements are computed from transposed matrices, and vectors
/// and scalars: of what is computed from the matrices themselves. A library reads transposes where
/// they are. Else the operand.
ValueId with_transpose_last(Graph& graph, ValueId operand, ir::Location location);

}  // namespace heddle::passes
