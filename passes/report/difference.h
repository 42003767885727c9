#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// One line of a graph's text before and after a pass, with the numbers of print_nodes.
struct ChangedLine {
  std::optional<std::uint32_t> before;  ///< absent: the pass added the node
  std::optional<std::uint32_t> after;   ///< absent: the pass removed the node
  bool rewired = false;                 ///< same op, other operands
};

/// The differences between two graphs' texts: the nodes of both graphs in order, where a node with
/// the same op in both is one entry. Quadratic in the number of lines between the first and the
/// last difference; beyond a few million pairs, all of these lines count as changed.
std::vector<ChangedLine> difference(const ir::Graph& before, const ir::Graph& after);

}  // namespace heddle::passes
