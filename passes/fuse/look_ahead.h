#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// What grouping, which goes from the outputs back, has to know of nodes that it has not reached.

/// Per node: a slice_update whose base nobody else reads and whose memory the program may write, so
/// that only the region is stored. `donated` is per parameter; missing ones are not.
std::vector<bool> find_updates_in_place(const ir::Graph& graph, const std::vector<bool>& donated);

/// Per node: the operand that leads, through elementwise ops of as many elements, to a reduction;
/// 0 for a reduction itself, -1 for a node that hangs on none.
std::vector<int> find_ways_to_reductions(const ir::Graph& graph);

}  // namespace heddle::passes
