#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// Whether the value is a transpose that only exchanges the last two axes.
bool swaps_last_axes(const Graph& graph, ValueId value);

/// Whether the value is computed, element by element in a few ops, from a value that
/// swaps_last_axes().
bool has_transpose_below(const Graph& graph, ValueId value);

/// Moves a transpose behind elementwise ops: f(a^T) becomes f(a)^T, which libraries read without a
/// copy. Applies if the operand is computed element by element from transposed matrices, vectors
/// and scalars. Returns the operand if it is not.
ValueId with_transpose_last(Graph& graph, ValueId operand, ir::Location location);

}  // namespace heddle::passes
