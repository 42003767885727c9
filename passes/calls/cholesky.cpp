#include "passes/calls/cholesky.h"

#include <limits>

#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Op;

ValueId constant(Graph& graph, DType dtype, double value) {
  return graph.constant(dtype, ir::constant_bits(dtype, value));
}

ValueId indices(Graph& graph, const ir::Shape& shape, std::int64_t axis, ir::Location location) {
  ir::Attributes attributes;
  attributes.dtype = DType::i32;
  attributes.shape = shape;
  attributes.axes = {axis};
  return graph.add(Op::iota, {}, std::move(attributes), location);
}

}  // namespace

std::vector<ValueId> lower_cholesky(Graph& graph, const OldCall& call, const ir::Target&) {
  const ir::Location location = call.location();
  const ValueId raw = copy_node(graph, call.graph, call.node, call.operands);
  const ValueId status = graph.result(raw, 1, location);
  const ir::Type type = graph.type(raw);
  const bool upper = call.data().get<bool>("upper");
  const ir::Shape matrix(type.shape.end() - 2, type.shape.end());
  const ValueId row = indices(graph, matrix, 0, location);
  const ValueId column = indices(graph, matrix, 1, location);
  const ValueId stored =
      graph.add(Op::less_equal, {upper ? row : column, upper ? column : row}, {}, location);
  const ValueId factor =
      graph.add(Op::select, {stored, raw, constant(graph, type.dtype, 0)}, {}, location);
  ir::Attributes a_matrix;
  a_matrix.shape = graph.shape(status);
  a_matrix.shape.insert(a_matrix.shape.end(), 2, Dim(1));
  const ValueId statuses = graph.add(Op::reshape, {status}, std::move(a_matrix), location);
  const ValueId fits =
      graph.add(Op::equal, {statuses, constant(graph, DType::i32, 0)}, {}, location);
  const ValueId nan = constant(graph, type.dtype, std::numeric_limits<double>::quiet_NaN());
  return {graph.add(Op::select, {fits, factor, nan}, {}, location), status};
}

Dim cholesky_flops(const Graph& graph, ValueId call) {
  const ir::Type& type = graph.type(call);
  if (!ir::is_constant(type.shape)) return 0;
  const Dim batch = ir::element_count({type.shape.begin(), type.shape.end() - 2});
  const std::int64_t n = type.shape.back().constant(), each = is_complex(type.dtype) ? 4 : 1;
  return batch * Dim(each * n * n * n / 3);
}

}  // namespace heddle::passes
