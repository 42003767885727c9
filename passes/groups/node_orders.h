#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Topological orders of a graph's nodes, as a number for each node. They differ in the number of
/// live values at each point. No order is best for every graph.

std::vector<std::uint32_t> number_as_recorded(const ir::Graph& graph);

/// Places a node shortly before its first user. Of a node's operands, the one at the end of the
/// longest path comes first. Good for sums of many terms.
std::vector<std::uint32_t> number_depth_first(const ir::Graph& graph);

/// Orders by the longest path that leads to a node. Nodes that keep fewer values live if computed
/// late come directly before their first user. Good for unrolled loops.
std::vector<std::uint32_t> number_by_level(const ir::Graph& graph);

}  // namespace heddle::passes
