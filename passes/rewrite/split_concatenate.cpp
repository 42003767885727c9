#include "passes/rewrite/split_concatenate.h"

#include <algorithm>

#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::ValueId;

std::vector<ValueId> joined(Graph& graph, const std::vector<ValueId>& parts,
                            const ir::Attributes& attributes, const ir::Location& location) {
  std::vector<ValueId> result;
  for (std::size_t begin = 0; begin < parts.size(); begin += max_parts) {
    const std::size_t end = std::min(begin + max_parts, parts.size());
    const std::vector<ValueId> run(parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                   parts.begin() + static_cast<std::ptrdiff_t>(end));
    result.push_back(run.size() == 1 ? run[0]
                                     : graph.add(ir::Op::concatenate, run, attributes, location));
  }
  return result;
}

}  // namespace

Graph split_concatenations(const Graph& graph) {
  return rewrite(graph, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
    if (graph.op(id) != ir::Op::concatenate || operands.size() <= max_parts)
      return copy_node(result, graph, id, operands);
    std::vector<ValueId> parts = operands;
    while (parts.size() > 1)
      parts = joined(result, parts, graph.attributes(id), graph.node(id).location);
    return parts[0];
  });
}

}  // namespace heddle::passes
