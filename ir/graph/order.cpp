#include "ir/graph/graph.h"

namespace heddle::ir {

std::vector<ValueId> shared_order(const Graph& graph) {
  std::vector<ValueId> order = graph.parameters();
  std::vector<bool> met(graph.size());
  for (const ValueId parameter : order) met[index_of(parameter)] = true;
  struct Visit {
    ValueId node;
    std::size_t next = 0;  ///< index of the next operand to visit
  };
  std::vector<Visit> open;
  const auto enter = [&](ValueId node) {
    if (met[index_of(node)]) return;
    met[index_of(node)] = true;
    open.push_back({node});
  };
  for (const ValueId output : graph.outputs) {
    enter(output);
    while (!open.empty()) {
      Visit& visit = open.back();
      const auto operands = graph.operands(visit.node);
      if (visit.next < operands.size()) {
        enter(operands[visit.next++]);
      } else {
        order.push_back(visit.node);
        open.pop_back();
      }
    }
  }
  return order;
}

void Graph::number_nodes() {
  std::uint32_t place = 0;
  for (const ValueId node : shared_order(*this)) nodes_[index_of(node)].location.node = place++;
}

}  // namespace heddle::ir
