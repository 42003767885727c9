#include "passes/sort.h"

#include <algorithm>
#include <numeric>

#include "passes/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

ValueId permuted(Graph& graph, ValueId value, std::vector<std::int64_t> axes,
                 ir::Location location) {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return graph.add(Op::transpose, {value}, attributes, location);
}

bool is_single(const ir::Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](Dim extent) { return extent == Dim(1); });
}

ValueId along_last_axis(Graph& graph, const Graph& old, ValueId id, ValueId operand) {
  const ir::Location location = old.node(id).location;
  const ir::Shape shape = graph.shape(operand);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = old.attributes(id).axes[0];
  ir::Attributes last;
  last.axes = {rank - 1};
  // Behind it only axes of 1: rows lie one after the other all the same.
  if (is_single({shape.begin() + axis + 1, shape.end()}))
    return copy_node(graph, old, id, {operand});
  std::vector<std::int64_t> order(shape.size()), inverse(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  for (std::int64_t i = 0; i < rank; ++i) inverse[order[i]] = i;
  const ValueId rows = permuted(graph, operand, order, location);
  return permuted(graph, graph.add(old.op(id), {rows}, last, location), inverse, location);
}

}  // namespace

Graph lower_sorts(const Graph& graph) {
  return rewrite(graph, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
    if (ir::kind_of(graph.op(id)) != ir::OpKind::sorting)
      return copy_node(result, graph, id, operands);
    return along_last_axis(result, graph, id, operands[0]);
  });
}

ValueId whole_operand(const Graph& graph, ValueId operand) {
  while (graph.op(operand) == Op::reshape) operand = graph.operands(operand)[0];
  return operand;
}

SortStep describe_sort(const Graph& graph, ValueId node) {
  const ir::Shape& shape = graph.shape(node);
  SortStep step;
  step.dtype = graph.dtype(graph.operands(node)[0]);
  step.indices = graph.op(node) == Op::argsort;
  const std::int64_t axis = graph.attributes(node).axes[0];
  step.rows = ir::element_count({shape.begin(), shape.begin() + axis});
  step.length = shape[axis];
  return step;
}

}  // namespace heddle::passes
