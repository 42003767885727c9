#include "frontend/array/views.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/array/promote.h"

namespace heddle::frontend {

using ir::Op;

NodeRef permute(const NodeRef& node, std::vector<std::int64_t> axes, const Site& site) {
  if (std::is_sorted(axes.begin(), axes.end())) return node;
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return record(Op::transpose, {node}, std::move(attributes), site);
}

namespace {

ir::Attributes whole_region(const NodeRef& node) {
  ir::Attributes attributes;
  attributes.shape = node->shape;
  attributes.starts.assign(node->shape.size(), 0);
  attributes.steps.assign(node->shape.size(), 1);
  return attributes;
}

}  // namespace

NodeRef slice_along(const NodeRef& node, std::int64_t axis, ir::Dim start, ir::Dim count,
                    std::int64_t step, const Site& site) {
  const auto place = static_cast<std::size_t>(axis);
  if (start == ir::Dim(0) && step == 1 && count == node->shape[place]) return node;
  ir::Attributes attributes = whole_region(node);
  attributes.shape[place] = count;
  attributes.starts[place] = count == ir::Dim(0) ? ir::Dim(0) : start;
  attributes.steps[place] = step;
  return record(Op::slice, {node}, std::move(attributes), site);
}

NodeRef reverse_along(const NodeRef& node, std::span<const std::int64_t> axes, const Site& site) {
  ir::Attributes attributes = whole_region(node);
  bool changes = false;
  for (std::int64_t axis : axes) {
    const auto place = static_cast<std::size_t>(axis);
    if (node->shape[place] == ir::Dim(0)) continue;
    attributes.starts[place] = node->shape[place] - 1;
    attributes.steps[place] = -1;
    changes = true;
  }
  return changes ? record(Op::slice, {node}, std::move(attributes), site) : node;
}

NodeRef insert_axis(const NodeRef& node, std::int64_t axis, const Site& site) {
  ir::Shape shape = node->shape;
  shape.insert(shape.begin() + axis, ir::Dim(1));
  return reshape_to(node, std::move(shape), site);
}

NodeRef flatten(const NodeRef& node, const Site& site) {
  return reshape_to(node, {ir::element_count(node->shape)}, site);
}

NodeRef join_along(std::span<const NodeRef> nodes, std::int64_t axis, const Site& site) {
  if (nodes.size() == 1) return nodes[0];
  ir::Attributes attributes;
  attributes.axes = {axis};
  return record(Op::concatenate, nodes, std::move(attributes), site);
}

NodeRef tile_along(const NodeRef& node, std::int64_t axis, std::int64_t count, bool each,
                   const Site& site) {
  if (count == 1) return node;
  if (node->shape.size() == ir::max_rank) {
    // The rank is at its maximum, so merge the axes before and after this one to make room.
    const auto before = node->shape.begin() + axis, behind = before + 1;
    const NodeRef merged = located(site, [&] {
      const ir::Shape shape = {ir::element_count({node->shape.begin(), before}), *before,
                               ir::element_count({behind, node->shape.end()})};
      return reshape_to(node, shape, site);
    });
    const NodeRef tiled = tile_along(merged, 1, count, each, site);
    ir::Shape shape = node->shape;
    shape[static_cast<std::size_t>(axis)] = tiled->shape[1];
    return reshape_to(tiled, std::move(shape), site);
  }
  const std::int64_t place = each ? axis + 1 : axis;
  ir::Shape shape = node->shape;
  shape.insert(shape.begin() + place, ir::Dim(count));
  const NodeRef copies = broadcast_to_shape(insert_axis(node, place, site), shape, site);
  ir::Shape joined = node->shape;
  ir::Dim& extent = joined[static_cast<std::size_t>(axis)];
  extent = located(site, [&] { return extent * ir::Dim(count); });
  return reshape_to(copies, std::move(joined), site);
}

NodeRef periodic(const NodeRef& node, std::int64_t axis, std::int64_t offset, std::int64_t count,
                 const Site& site) {
  const std::int64_t period = extent_of(node, axis).constant();
  const std::int64_t start = (offset % period + period) % period;
  const std::int64_t copies = (start + count + period - 1) / period;
  const NodeRef tiled = tile_along(node, axis, std::max<std::int64_t>(copies, 1), false, site);
  return slice_along(tiled, axis, start, count, 1, site);
}

NodeRef diagonal_of(std::string_view op, const NodeRef& node, std::int64_t k, const Site& site) {
  const int rank = rank_of(node);
  const std::int64_t rows = constant_extent(op, node, rank - 2, site);
  const std::int64_t columns = constant_extent(op, node, rank - 1, site);
  const std::int64_t above = std::clamp<std::int64_t>(k, 0, columns);
  const std::int64_t below = std::clamp<std::int64_t>(-k, 0, rows);
  const std::int64_t length = std::min(rows - below, columns - above);
  // In C order, neighbours on a diagonal are one row and one element apart.
  ir::Shape flat(node->shape.begin(), node->shape.end() - 2);
  flat.emplace_back(rows * columns);
  return slice_along(reshape_to(node, std::move(flat), site), rank - 2, below * columns + above,
                     length, length > 1 ? columns + 1 : 1, site);
}

NodeRef fit_rank(const NodeRef& value, std::size_t rank, const Site& site) {
  ir::Shape shape = value->shape;
  while (shape.size() > rank && shape.front() == ir::Dim(1)) shape.erase(shape.begin());
  return reshape_to(value, std::move(shape), site);
}

std::vector<NodeRef> promoted(std::string_view op, Arrays arrays, const SourceLocation& where) {
  if (arrays.empty()) throw ValueError(at(fmt::format("{}: needs at least one array", op), where));
  std::vector<Operand> operands;
  for (const Array& array : arrays) operands.emplace_back(array, where);
  std::vector<const Operand*> pointers;
  for (const Operand& operand : operands) pointers.push_back(&operand);
  const DType dtype = common_dtype(pointers);
  std::vector<NodeRef> nodes;
  for (const Operand& operand : operands) nodes.push_back(node_of(op, operand, dtype));
  return nodes;
}

}  // namespace heddle::frontend
