#include "frontend/array/ordering.h"

#include <fmt/format.h>

#include "frontend/array/gather.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "ir/calls/calls.h"

namespace heddle::frontend {

using ir::Op;

NodeRef OpRecorder::transpose(const NodeRef& node, std::vector<std::int64_t> axes) const {
  return permute(node, std::move(axes), site);
}

NodeRef OpRecorder::reduce(ir::Op op, const NodeRef& node, std::vector<std::int64_t> axes) const {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return record(op, {node}, std::move(attributes), site);
}

NodeRef OpRecorder::segments(ir::Op op, const NodeRef& node, const NodeRef& begins,
                             const NodeRef& ends, std::int64_t axis) const {
  ir::Attributes attributes;
  attributes.axes = {axis};
  return record(op, {node, begins, ends}, std::move(attributes), site);
}

NodeRef OpRecorder::sort(const ir::CallOp& op, const NodeRef& node, std::int64_t axis) const {
  return record(ir::Op::call, {node}, ir::call_attributes(op, {{"axis", axis}}), site);
}

NodeRef OpRecorder::part(const NodeRef& node, std::int64_t axis, ir::Dim first,
                         ir::Dim count) const {
  return slice_along(node, axis, first, count, 1, site);
}

NodeRef OpRecorder::flip(const NodeRef& node, std::int64_t axis) const {
  return reverse_along(node, {&axis, 1}, site);
}

NodeRef OpRecorder::gather(const NodeRef& node, const NodeRef& indices, std::int64_t axis) const {
  return take_along(node, indices, static_cast<std::size_t>(axis), site);
}

NodeRef OpRecorder::scatter_add(const NodeRef& values, const NodeRef& indices,
                                ir::Dim length) const {
  ir::Attributes attributes;
  attributes.axes = {0};
  attributes.shape = {length};
  return record(Op::scatter_add, {values, indices}, std::move(attributes), site);
}

NodeRef OpRecorder::extent(ir::Dim extent) const {
  if (extent.is_constant()) {
    return record_scalar(DType::i64, static_cast<std::uint64_t>(extent.constant()), true);
  }
  // The last of `extent + 1` indices, so that an extent of 0 also has one.
  return reshape(part(places(extent + 1), 0, extent, 1), {});
}

Along along_axis(std::string_view op, const Operand& x, const Axes& axis) {
  const NodeRef node = node_of(op, x);
  if (axis.all()) return {OpRecorder{x.where()}.flat(node), 0};
  if (axis.values().size() != 1) {
    throw ValueError(at(
        fmt::format("{}({}): takes one axis, or none for the flattened array", op, describe(*node)),
        x.where()));
  }
  return {node, axis_of(op, axis.values()[0], rank_of(node), x.where())};
}

}  // namespace heddle::frontend
