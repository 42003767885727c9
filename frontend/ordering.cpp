#include "frontend/ordering.h"

#include <fmt/format.h>

#include "frontend/promote.h"

namespace heddle::frontend {

using ir::Op;

NodeRef Composer::transpose(const NodeRef& node, std::vector<std::int64_t> axes) const {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return record(Op::transpose, {node}, std::move(attributes), site);
}

NodeRef Composer::reduce(ir::Op op, const NodeRef& node, std::vector<std::int64_t> axes) const {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return record(op, {node}, std::move(attributes), site);
}

NodeRef Composer::sort(ir::Op op, const NodeRef& node, std::int64_t axis) const {
  return reduce(op, node, {axis});
}

NodeRef Composer::part(const NodeRef& node, std::int64_t axis, ir::Dim first, ir::Dim count) const {
  const auto place = static_cast<std::size_t>(axis);
  ir::Attributes attributes;
  attributes.shape = node->shape;
  attributes.shape[place] = count;
  attributes.starts.assign(node->shape.size(), 0);
  attributes.starts[place] = first;
  attributes.steps.assign(node->shape.size(), 1);
  return record(Op::slice, {node}, std::move(attributes), site);
}

NodeRef Composer::flip(const NodeRef& node, std::int64_t axis) const {
  const auto place = static_cast<std::size_t>(axis);
  if (node->shape[place] == ir::Dim(0)) return node;
  ir::Attributes attributes;
  attributes.shape = node->shape;
  attributes.starts.assign(node->shape.size(), 0);
  attributes.starts[place] = node->shape[place] - 1;
  attributes.steps.assign(node->shape.size(), 1);
  attributes.steps[place] = -1;
  return record(Op::slice, {node}, std::move(attributes), site);
}

NodeRef Composer::gather(const NodeRef& node, const NodeRef& indices, std::int64_t axis) const {
  ir::Attributes attributes;
  attributes.axes = {axis};
  return record(Op::gather, {node, indices}, std::move(attributes), site);
}

NodeRef Composer::scatter_add(const NodeRef& values, const NodeRef& indices, ir::Dim length) const {
  ir::Attributes attributes;
  attributes.axes = {0};
  attributes.shape = {length};
  return record(Op::scatter_add, {values, indices}, std::move(attributes), site);
}

NodeRef Composer::extent(ir::Dim extent) const {
  if (extent.is_constant()) {
    return record_scalar(DType::i64, static_cast<std::uint64_t>(extent.constant()), true);
  }
  // The last of as many places and one more, so that an extent of 0 has one too.
  return reshape(part(places(extent + 1), 0, extent, 1), {});
}

Along along_axis(std::string_view op, const Operand& x, const Axes& axis) {
  const NodeRef node = node_of(op, x);
  if (axis.all()) return {Composer{x.where()}.flat(node), 0};
  if (axis.values().size() > 1) {
    throw ValueError(at(
        fmt::format("{}({}): takes one axis, or none for the flattened array", op, describe(*node)),
        x.where()));
  }
  const int rank = static_cast<int>(node->shape.size());
  return {node, located(x.where(), [&] { return ir::normalize_axis(axis.values()[0], rank); })};
}

}  // namespace heddle::frontend
