#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Orders of a graph's nodes, operands before users, as a number for each node. They differ in how
/// many values are needed later at each point, and none is best for every graph.

std::vector<std::uint32_t> number_as_recorded(const ir::Graph& graph);

/// A node comes soon before its first user; of a node's operands the one that hangs on the longest
/// chain of operations comes first. Good for sums of many terms.
std::vector<std::uint32_t> number_depth_first(const ir::Graph& graph);

/// By the longest chain of operations that leads to a node; nodes that keep less alive when they
/// are computed later come right before their first user. Good for unrolled loops.
std::vector<std::uint32_t> number_by_level(const ir::Graph& graph);

}  // namespace heddle::passes
