#include "passes/calls/failed_matrices.h"

#include <limits>
#include <utility>

#include "ir/types/constant.h"

namespace heddle::passes {

ir::ValueId nan_where_failed(ir::Graph& graph, ir::ValueId value, ir::ValueId status,
                             ir::Location location) {
  const ir::Type type = graph.type(value);
  const auto constant = [&](DType dtype, double number) {
    return graph.constant(dtype, ir::constant_bits(dtype, number));
  };
  ir::Attributes an_item;
  an_item.shape = graph.shape(status);
  an_item.shape.insert(an_item.shape.end(), type.shape.size() - an_item.shape.size(), ir::Dim(1));
  const ir::ValueId statuses = graph.add(ir::Op::reshape, {status}, std::move(an_item), location);
  const ir::ValueId fine =
      graph.add(ir::Op::equal, {statuses, constant(DType::i32, 0)}, {}, location);
  const ir::ValueId nan = constant(type.dtype, std::numeric_limits<double>::quiet_NaN());
  return graph.add(ir::Op::select, {fine, value, nan}, {}, location);
}

namespace {

/// For each matrix, whether it contains NaN.
ir::ValueId has_nan(ir::Graph& graph, ir::ValueId matrices, bool keepdims, ir::Location location) {
  const auto rank = static_cast<std::int64_t>(graph.shape(matrices).size());
  ir::Attributes of_an_item;
  of_an_item.axes = {rank - 2, rank - 1};
  of_an_item.keepdims = keepdims;
  const ir::ValueId nans = graph.add(ir::Op::isnan, {matrices}, {}, location);
  return graph.add(ir::Op::any, {nans}, std::move(of_an_item), location);
}

ir::ValueId select_where_nan(ir::Graph& graph, ir::ValueId value, ir::ValueId nans, double number,
                             ir::Location location) {
  const DType dtype = graph.dtype(value);
  const ir::ValueId chosen = graph.constant(dtype, ir::constant_bits(dtype, number));
  return graph.add(ir::Op::select, {nans, chosen, value}, {}, location);
}

}  // namespace

ir::ValueId nan_where_nan(ir::Graph& graph, ir::ValueId value, ir::ValueId matrices,
                          ir::Location location) {
  return select_where_nan(graph, value, has_nan(graph, matrices, true, location),
                          std::numeric_limits<double>::quiet_NaN(), location);
}

ir::ValueId fine_where_nan(ir::Graph& graph, ir::ValueId status, ir::ValueId matrices,
                           ir::Location location) {
  return select_where_nan(graph, status, has_nan(graph, matrices, false, location), 0, location);
}

}  // namespace heddle::passes
