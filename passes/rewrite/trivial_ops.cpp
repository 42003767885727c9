#include <algorithm>

#include "heddle/error.h"

#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/simplify.h"

namespace heddle::passes {

namespace {

using ir::Attributes;
using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

bool is_empty(const ir::Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](Dim extent) { return extent == Dim(0); });
}

double start_of(Op reduction) {
  switch (reduction) {
    case Op::sum:
    case Op::any:
      return 0;
    case Op::prod:
    case Op::all:
      return 1;
    default:
      throw InternalError("a reduction without an identity over no elements");
  }
}

// A reduction over one element is that element, or index 0.
ValueId single(Graph& graph, const Graph& old, ValueId id, ValueId operand) {
  const ir::Type type = old.type(id);
  if (ir::finds_index(old.op(id))) return filled(graph, type, 0);
  Attributes attributes;
  attributes.dtype = type.dtype;
  const ValueId cast =
      graph.dtype(operand) == type.dtype ? operand : graph.add(Op::cast, {operand}, attributes);
  Attributes shape;
  shape.shape = type.shape;
  return graph.shape(cast) == type.shape ? cast : graph.add(Op::reshape, {cast}, shape);
}

ValueId reduction(Graph& graph, const Graph& old, ValueId id,
                  const std::vector<ValueId>& operands) {
  if (operands.size() > 1) return copy_node(graph, old, id, operands);  // segments may be empty
  const ir::Shape& shape = graph.shape(operands[0]);
  if (is_empty(shape)) {
    // An empty result has no elements to fill. Otherwise each element is the reduction's initial
    // value.
    return filled(graph, old.type(id), is_empty(old.shape(id)) ? 0 : start_of(old.op(id)));
  }
  const Attributes& attributes = old.attributes(id);
  const bool over_single = std::all_of(attributes.axes.begin(), attributes.axes.end(),
                                       [&](std::int64_t axis) { return shape[axis] == Dim(1); });
  return over_single ? single(graph, old, id, operands[0]) : copy_node(graph, old, id, operands);
}

ValueId concatenation(Graph& graph, const Graph& old, ValueId id, std::vector<ValueId> operands) {
  const std::int64_t axis = old.attributes(id).axes[0];
  const ValueId first = operands.front();
  std::erase_if(operands, [&](ValueId part) { return graph.shape(part)[axis] == Dim(0); });
  if (operands.empty()) return first;
  return operands.size() == 1 ? operands[0] : copy_node(graph, old, id, operands);
}

}  // namespace

Graph remove_trivial_ops(const Graph& graph) {
  return rewrite(graph, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
    const Op op = graph.op(id);
    if (computes_nothing(graph, id) && op != Op::constant) return filled(result, graph.type(id), 0);
    if (ir::is_reduction(op)) return reduction(result, graph, id, operands);
    // A scan over one element is that element.
    if (ir::is_scan(op) && graph.shape(id)[graph.attributes(id).axes[0]] == Dim(1))
      return operands[0];
    if (op == Op::concatenate) return concatenation(result, graph, id, operands);
    if (op == Op::slice_update && is_empty(graph.attributes(id).shape)) return operands[0];
    if (ir::is_search(op) && is_empty(result.shape(operands[0])))
      return filled(result, graph.type(id), 0);
    return copy_node(result, graph, id, operands);
  });
}

}  // namespace heddle::passes
