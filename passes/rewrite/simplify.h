#pragma once

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Removes ops without effect: neutral operands, casts there and back, views that compose or do
/// nothing. Results stay bit for bit the same, including NaN and signed zeros. The exception is
/// small integer powers: as products, they round as multiplications do, within the error that the
/// op table allows for power.
ir::Graph simplify(const ir::Graph& graph);

/// Replaces reductions over zero elements or one, concatenations with empty parts, and empty slice
/// updates. Later stages then see no extent of 0 inside a kernel.
ir::Graph remove_trivial_ops(const ir::Graph& graph);

}  // namespace heddle::passes
