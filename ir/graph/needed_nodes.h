#pragma once

#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// Whether some values need each node: those values, their operands, and so on.
std::vector<bool> needed_nodes(const Graph& graph, std::span<const ValueId> values);
/// Whether the outputs need each node. Rewrites leave nodes that no output needs.
std::vector<bool> needed_nodes(const Graph& graph);

}  // namespace heddle::ir
