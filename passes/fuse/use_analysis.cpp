#include "passes/fuse/use_analysis.h"

#include <cstdint>

#include "passes/groups/per_element.h"

namespace heddle::passes {

using ir::Graph;
using ir::ValueId;

std::vector<int> find_reduction_paths(const Graph& graph) {
  std::vector<int> ways(graph.size(), -1);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (ir::is_reduction(graph.op(node))) ways[i] = 0;
    if (!is_per_element(graph, node) && graph.op(node) != ir::Op::reshape) continue;
    for (std::size_t k = 0; k < graph.operands(node).size() && ways[i] < 0; ++k) {
      const ValueId operand = graph.operands(node)[k];
      const bool same_size =
          ir::element_count(graph.shape(operand)) == ir::element_count(graph.shape(node));
      if (same_size && ways[index_of(operand)] >= 0) ways[i] = static_cast<int>(k);
    }
  }
  return ways;
}

std::vector<int> count_reductions(const Graph& graph) {
  std::vector<int> counts(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (ir::is_reduction(graph.op(node))) ++counts[index_of(graph.operands(node)[0])];
  }
  return counts;
}

}  // namespace heddle::passes
