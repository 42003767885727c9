#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Node properties computed before grouping, which visits nodes from outputs to inputs.

/// For each node: whether it is a slice_update that may write into its base's memory, so that only
/// the region is stored. The program may overwrite the base's memory, and what else reads the base
/// has done so before: it reads other elements, or is computed into the element that it reads.
/// `donated` is by parameter; missing entries are false.
std::vector<bool> find_updates_in_place(const ir::Graph& graph, const std::vector<bool>& donated);

/// For each node: the operand on the path to a reduction through elementwise ops with equally many
/// elements; 0 for a reduction itself; -1 if there is no such path.
std::vector<int> find_reduction_paths(const ir::Graph& graph);

}  // namespace heddle::passes
