#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/groups/group.h"

namespace heddle::passes {

struct GroupOptions {
  ir::Target target;
  std::vector<bool> donated;          ///< per parameter
  std::vector<std::string> disabled;  ///< families and switches
  bool strict = false, approximate = false;
};

/// Cuts the graph into groups, from the outputs back: a node joins the group of its users when that
/// is the one that runs first of them and some family takes it; otherwise it is stored by a group
/// of its own, or computed again where that is cheaper. Groups so made only depend on later ones,
/// so they are convex, and each node is looked at once.
Grouping group(const Graph& graph, const GroupOptions& options);

}  // namespace heddle::passes
