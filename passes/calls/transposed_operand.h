#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// Whether the value is a transpose that only exchanges the last two axes.
bool swaps_last_axes(const Graph& graph, ValueId value);

/// Whether the value is computed, element by element in a few ops, from a value that
/// swaps_last_axes().
bool has_transpose_below(const Graph& graph, ValueId value);

/// If the operand is computed element by element from transposed matrices, vectors and scalars: the
/// transpose of what is computed from these matrices as they are in memory. Libraries read such a
/// transpose without a copy. Else the operand.
ValueId with_transpose_last(Graph& graph, ValueId operand, ir::Location location);

}  // namespace heddle::passes
