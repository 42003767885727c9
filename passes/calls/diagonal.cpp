#include "passes/calls/diagonal.h"

#include <utility>

namespace heddle::passes {

using ir::Dim;
using ir::Op;
using ir::ValueId;

ValueId diagonal(ir::Graph& graph, ValueId matrices, ir::Location location) {
  const ir::Shape shape = graph.shape(matrices);
  const Dim n = shape.back();
  // Elements of the diagonal are n + 1 elements apart in memory.
  ir::Attributes flat, apart;
  flat.shape = apart.shape = {shape.begin(), shape.end() - 1};
  flat.shape.back() = n * n;
  apart.starts.assign(flat.shape.size(), Dim(0));
  apart.steps.assign(flat.shape.size(), Dim(1));
  apart.steps.back() = n + Dim(1);
  const ValueId elements = graph.add(Op::reshape, {matrices}, std::move(flat), location);
  return graph.add(Op::slice, {elements}, std::move(apart), location);
}

ValueId indices(ir::Graph& graph, const ir::Shape& shape, std::int64_t axis,
                ir::Location location) {
  ir::Attributes attributes;
  attributes.dtype = DType::i32;
  attributes.shape = shape;
  attributes.axes = {axis};
  return graph.add(Op::iota, {}, std::move(attributes), location);
}

}  // namespace heddle::passes
