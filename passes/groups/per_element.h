#pragma once

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Whether a node is a control.elements.
bool is_element_loop(const ir::Graph& graph, ir::ValueId node);

/// Whether each element of a node depends only on the elements of its operands at the same
/// position: an elementwise op, a cast, or an element loop.
bool is_per_element(const ir::Graph& graph, ir::ValueId node);

}  // namespace heddle::passes
