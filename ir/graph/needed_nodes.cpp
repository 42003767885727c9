#include "ir/graph/needed_nodes.h"

namespace heddle::ir {

std::vector<bool> needed_nodes(const Graph& graph, std::span<const ValueId> values) {
  std::vector<bool> needed(graph.size());
  for (const ValueId value : values) needed[index_of(value)] = true;
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const ValueId operand : graph.operands(ValueId{static_cast<std::uint32_t>(i)}))
      needed[index_of(operand)] = true;
  }
  return needed;
}

std::vector<bool> needed_nodes(const Graph& graph) { return needed_nodes(graph, graph.outputs); }

}  // namespace heddle::ir
