#include "frontend/graph/graph_builder.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::frontend {

void GraphBuilder::add_array(const Node& node) {
  values_.emplace(&node, graph.parameter(node.dtype, node.shape, node.site.location));
}

void GraphBuilder::add_scalar(const Node& node) {
  values_.emplace(&node, graph.scalar_parameter(node.dtype, node.site.location));
}

void GraphBuilder::add_constant(const Node& node) {
  values_.emplace(&node, graph.constant(node.dtype, node.bits));
}

void GraphBuilder::add_operation(const Node& node, ir::Attributes attributes) {
  std::vector<ir::ValueId> operands;
  for (const NodeRef& operand : node.operands()) operands.push_back(values_.at(operand.get()));
  values_.emplace(&node, graph.add(node.op, operands, std::move(attributes), node.site.location));
}

std::uint32_t GraphBuilder::add_output(const Node& node) {
  const ir::ValueId value = values_.at(&node);
  const auto found = std::ranges::find(graph.outputs, value);
  const auto number = static_cast<std::uint32_t>(found - graph.outputs.begin());
  if (found == graph.outputs.end()) graph.outputs.push_back(value);
  return number;
}

}  // namespace heddle::frontend
