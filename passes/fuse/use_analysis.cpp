#include "passes/fuse/use_analysis.h"

#include <cstdint>

namespace heddle::passes {

using ir::Graph;
using ir::ValueId;

std::vector<bool> find_updates_in_place(const Graph& graph, const std::vector<bool>& donated) {
  const std::vector<std::uint32_t> uses = use_counts(graph);
  std::vector<bool> is_output(graph.size()), in_place(graph.size());
  for (const ValueId output : graph.outputs) is_output[index_of(output)] = true;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (graph.op(node) != ir::Op::slice_update) continue;
    const ValueId base = graph.operands(node)[0];
    if (uses[index_of(base)] != 1 || is_output[index_of(base)]) continue;
    if (graph.operands(node)[1] == base)
      continue;  // the value is the base itself, so it would be
                 // read while being overwritten
    const std::uint32_t parameter = graph.attributes(base).index;
    in_place[i] = graph.op(base) == ir::Op::parameter
                      ? parameter < donated.size() && donated[parameter]
                      : in_place[index_of(base)];
  }
  return in_place;
}

std::vector<int> find_reduction_paths(const Graph& graph) {
  std::vector<int> ways(graph.size(), -1);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    const ir::Op op = graph.op(node);
    if (ir::is_reduction(op)) ways[i] = 0;
    if (!ir::is_elementwise(op) && op != ir::Op::cast && op != ir::Op::reshape) continue;
    for (std::size_t k = 0; k < graph.operands(node).size() && ways[i] < 0; ++k) {
      const ValueId operand = graph.operands(node)[k];
      const bool same_size =
          ir::element_count(graph.shape(operand)) == ir::element_count(graph.shape(node));
      if (same_size && ways[index_of(operand)] >= 0) ways[i] = static_cast<int>(k);
    }
  }
  return ways;
}

}  // namespace heddle::passes
