#pragma once

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Removes what does nothing: neutral operands, casts there and back, views that compose or change
/// nothing. Every rule keeps values bit for bit, NaN and signed zeros included, but for small
/// integer powers: as products they round as their factors do, within the table's error for power.
ir::Graph simplify(const ir::Graph& graph);

/// Replaces reductions over nothing or over one element, concatenations with empty parts and empty
/// slice updates, so that no later stage sees an extent of 0 inside a kernel.
ir::Graph remove_degenerate(const ir::Graph& graph);

}  // namespace heddle::passes
