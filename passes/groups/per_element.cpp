#include "passes/groups/per_element.h"

#include "ir/calls/calls.h"

namespace heddle::passes {

bool is_element_loop(const ir::Graph& graph, ir::ValueId node) {
  return graph.is_call_of(node, ir::calls::element_loop());
}

bool is_per_element(const ir::Graph& graph, ir::ValueId node) {
  const ir::Op op = graph.op(node);
  return ir::is_elementwise(op) || op == ir::Op::cast || is_element_loop(graph, node);
}

}  // namespace heddle::passes
