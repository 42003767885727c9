#pragma once

#include <algorithm>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/constant.h"

namespace heddle::passes {

/// Whether numbers have 16 bits and are computed in float32.
inline bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Copies a graph node by node. `visit(graph, old, operands)` adds the replacement of the old node
/// to the new graph, given the new operands, and returns it. Parameters, outputs, facts and
/// locations are kept.
template <class Visit>
ir::Graph rewrite(const ir::Graph& old, const Visit& visit) {
  ir::Graph graph;
  graph.name = old.name;
  graph.facts = old.facts;
  std::vector<ir::ValueId> mapped(old.size());
  for (const ir::ValueId parameter : old.parameters()) {
    const ir::Node& node = old.node(parameter);
    mapped[index_of(parameter)] =
        old.attributes(parameter).scalar
            ? graph.scalar_parameter(node.dtype, node.location)
            : graph.parameter(node.dtype, old.shape(parameter), node.location);
  }
  std::vector<ir::ValueId> operands;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    if (old.op(id) == ir::Op::parameter) continue;
    operands.clear();
    for (const ir::ValueId operand : old.operands(id))
      operands.push_back(mapped[index_of(operand)]);
    mapped[i] = visit(graph, id, operands);
  }
  for (const ir::ValueId output : old.outputs) graph.outputs.push_back(mapped[index_of(output)]);
  return graph;
}

/// Copies a node, with its op and attributes.
inline ir::ValueId copy_node(ir::Graph& graph, const ir::Graph& old, ir::ValueId id,
                             const std::vector<ir::ValueId>& operands) {
  if (old.op(id) == ir::Op::constant) return graph.constant(old.dtype(id), old.attributes(id).bits);
  return graph.add(old.op(id), operands, old.attributes(id), old.node(id).location);
}

/// Whether all results of a node are empty.
inline bool computes_nothing(const ir::Graph& graph, ir::ValueId id) {
  const auto is_empty = [](const ir::Shape& shape) {
    return std::ranges::find(shape, ir::Dim(0)) != shape.end();
  };
  if (graph.op(id) != ir::Op::call) return is_empty(graph.shape(id));
  return std::ranges::all_of(graph.result_types(id),
                             [&](const ir::Type& type) { return is_empty(type.shape); });
}

/// An array whose elements all equal `value`.
inline ir::ValueId filled(ir::Graph& graph, const ir::Type& type, double value) {
  const ir::ValueId constant = graph.constant(type.dtype, ir::constant_bits(type.dtype, value));
  if (type.shape.empty()) return constant;
  ir::Attributes attributes;
  attributes.shape = type.shape;
  return graph.add(ir::Op::broadcast_to, {constant}, attributes);
}

}  // namespace heddle::passes
