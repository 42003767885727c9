#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/groups/group.h"

namespace heddle::passes {

struct GroupOptions {
  ir::Target target;
  std::vector<bool> donated;          ///< by parameter
  std::vector<std::string> disabled;  ///< names of families and other switches
  bool strict = false, approximate = false;
  std::optional<ir::SymbolId> counter = {};  ///< of the loop whose region the graph is
};

/// Partitions the graph into groups, from outputs to inputs. A node joins the group of its users
/// that runs first, if some family accepts it. Otherwise it is computed again in every group that
/// uses it, if that is cheaper, or stored by a group of its own. Groups depend only on groups
/// created later, so they are convex. Each node is visited once.
Grouping group(const Graph& graph, const GroupOptions& options);

}  // namespace heddle::passes
