#pragma once

#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/capabilities.h"

namespace heddle::passes {

/// Node properties computed before grouping, which visits nodes from outputs to inputs.

/// Properties of nodes, for updates of arrays whose memory the program may overwrite.
struct UpdatesInPlace {
  /// A slice_update that writes into its base's memory, so that only the region is stored. What
  /// else reads the base has done so before: it reads other elements, or is computed into the
  /// element that it reads, or is part of a value that is stored before.
  std::vector<bool> updates;
  /// A value that must be in memory before an update: one that the update writes, computed from
  /// elements that it overwrites; a part of the array that is read afterwards; or the array.
  std::vector<bool> stored_before;
};

/// `donated` is by parameter; missing entries are false. Besides donated parameters, values are
/// overwritten that many updates of small parts follow, if they are large enough for the machine.
UpdatesInPlace find_updates_in_place(const ir::Graph& graph, const std::vector<bool>& donated,
                                     const ir::Capabilities& machine);

/// For each node: the operand on the path to a reduction through elementwise ops with equally many
/// elements; 0 for a reduction itself; -1 if there is no such path.
std::vector<int> find_reduction_paths(const ir::Graph& graph);

/// For each node: the number of reductions whose operand it is.
std::vector<int> count_reductions(const ir::Graph& graph);

}  // namespace heddle::passes
