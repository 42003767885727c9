#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// One line of a graph's text before and after a pass, by the numbers of print_nodes.
struct ChangedLine {
  std::optional<std::uint32_t> before;  ///< absent: the pass added the node
  std::optional<std::uint32_t> after;   ///< absent: it removed the node
  bool rewired = false;                 ///< the same operation, on other operands
};

/// How the text of one graph becomes that of the other: the nodes of both in order, those that stay
/// the same operation in one line. Quadratic only in what lies between the first and the last
/// difference, and not at all beyond a few million pairs.
std::vector<ChangedLine> difference(const ir::Graph& before, const ir::Graph& after);

}  // namespace heddle::passes
