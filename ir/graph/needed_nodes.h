#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// Whether outputs need each node. Rewrites leave nodes that they do not.
std::vector<bool> needed_nodes(const Graph& graph);

}  // namespace heddle::ir
