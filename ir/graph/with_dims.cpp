#include "ir/graph/with_dims.h"

#include <utility>

namespace heddle::ir {

namespace {

Graph with_dims(const Graph& graph, const DimChange& change, const DimChange& change_step) {
  Graph result;
  result.name = graph.name;
  result.facts = graph.facts;
  result.fold_constants = false;
  std::vector<ValueId> values(graph.size());
  for (const ValueId id : shared_order(graph)) {
    const Location location = graph.node(id).location;
    Attributes attributes = ir::with_dims(graph.attributes(id), change, change_step);
    ValueId& value = values[index_of(id)];
    if (graph.op(id) == Op::parameter) {
      value = attributes.scalar
                  ? result.scalar_parameter(attributes.dtype, location)
                  : result.parameter(attributes.dtype, std::move(attributes.shape), location);
      continue;
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(id)) operands.push_back(values[index_of(operand)]);
    value = result.add(graph.op(id), operands, std::move(attributes), location);
  }
  for (const ValueId output : graph.outputs) result.outputs.push_back(values[index_of(output)]);
  result.fold_constants = graph.fold_constants;
  return result;
}

bool has_dims(const CallData& call) {
  for (const AttributeValue& value : call.attributes) {
    if (std::holds_alternative<Dims>(value)) return true;
  }
  return !call.regions.empty();
}

}  // namespace

CallRef with_dims(const CallRef& call, const DimChange& change, const DimChange& change_step) {
  if (!call || !has_dims(*call)) return call;
  CallData data = *call;
  for (AttributeValue& value : data.attributes) {
    if (auto* const dims = std::get_if<Dims>(&value)) {
      for (Dim& dim : *dims) dim = change(dim);
    }
  }
  for (Region& region : data.regions)
    region = make_region(with_dims(*region.graph, change, change_step));
  return CallRef(std::move(data));
}

Attributes with_dims(Attributes attributes, const DimChange& change, const DimChange& change_step) {
  for (Dim& dim : attributes.shape) dim = change(dim);
  for (Dim& dim : attributes.starts) dim = change(dim);
  for (Dim& dim : attributes.steps) dim = change_step(dim);
  attributes.call = with_dims(attributes.call, change, change_step);
  return attributes;
}

}  // namespace heddle::ir
