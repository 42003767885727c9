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

ir::ValueId nan_where_nan(ir::Graph& graph, ir::ValueId value, ir::ValueId matrices,
                          ir::Location location) {
  const DType dtype = graph.dtype(value);
  const auto rank = static_cast<std::int64_t>(graph.shape(matrices).size());
  ir::Attributes of_an_item;
  of_an_item.axes = {rank - 2, rank - 1};
  of_an_item.keepdims = true;
  const ir::ValueId nans = graph.add(ir::Op::isnan, {matrices}, {}, location);
  const ir::ValueId any = graph.add(ir::Op::any, {nans}, std::move(of_an_item), location);
  const ir::ValueId nan =
      graph.constant(dtype, ir::constant_bits(dtype, std::numeric_limits<double>::quiet_NaN()));
  return graph.add(ir::Op::select, {any, nan, value}, {}, location);
}

}  // namespace heddle::passes
