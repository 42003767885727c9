#include "frontend/array/gather.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "frontend/array/views.h"

namespace heddle::frontend {

using ir::Op;

namespace {

ir::Shape ones(std::size_t count) { return ir::Shape(count, ir::Dim(1)); }

ir::Shape joined(ir::Shape first, const ir::Shape& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

ir::Attributes along(std::size_t first, std::size_t count, ir::Shape shape = {}) {
  ir::Attributes attributes;
  attributes.axes.resize(count);
  std::iota(attributes.axes.begin(), attributes.axes.end(), static_cast<std::int64_t>(first));
  attributes.shape = std::move(shape);
  return attributes;
}

/// The indexed axes of a node, and their index arrays.
class Indexing {
 public:
  Indexing(const NodeRef& node, std::span<const AxisIndex> indexed, bool together, const Site& site)
      : node_(node), indexed_(indexed), site_(site) {
    for (const AxisIndex& one : indexed) {
      extents_.push_back(node->shape[one.axis]);
      order_.push_back(static_cast<std::int64_t>(one.axis));
      add_common(one.index->shape);
    }
    for (std::size_t axis = 0; axis < node->shape.size(); ++axis) {
      const auto number = static_cast<std::int64_t>(axis);
      if (std::find(order_.begin(), order_.end(), number) != order_.end()) continue;
      rest_.push_back(node->shape[axis]);
      if (together && axis < indexed.front().axis) ++before_;
    }
    for (std::size_t axis = 0; axis < node->shape.size(); ++axis) {
      const auto number = static_cast<std::int64_t>(axis);
      const auto end = order_.begin() + static_cast<std::ptrdiff_t>(count());
      if (std::find(order_.begin(), end, number) == end) order_.push_back(number);
    }
  }

  ir::Shape result() const {
    ir::Shape shape(rest_.begin(), rest_.begin() + before());
    shape.insert(shape.end(), common_.begin(), common_.end());
    shape.insert(shape.end(), rest_.begin() + before(), rest_.end());
    return shape;
  }

  NodeRef take() const {
    // gather pairs each indexed axis with an axis of the result, so the shorter list is padded.
    const std::size_t rank = std::max(common_.size(), count());
    const ir::Shape padded = joined(ones(rank - common_.size()), common_);
    std::vector<NodeRef> operands = {
        reshape_to(front(), joined(joined(ones(rank - count()), extents_), rest_), site_)};
    for (const AxisIndex& one : indexed_) {
      const ir::Shape& own = one.index->shape;
      operands.push_back(reshape_to(
          one.index, joined(joined(ones(rank - own.size()), own), ones(rest_.size())), site_));
    }
    const NodeRef taken = record(Op::gather, operands, along(rank - count(), count()), site_);
    return common_in_place(reshape_to(taken, joined(common_, rest_), site_));
  }

  NodeRef put(const NodeRef& value) const {
    const ir::Dim picked = ir::element_count(common_);
    if (picked == ir::Dim(0)) return node_;
    const NodeRef last = last_writer(picked);
    const NodeRef zero = record_constant(last->dtype, 0);
    const ir::Shape beside_rest = joined(extents_, ones(rest_.size()));
    const NodeRef written =
        reshape_to(record(Op::not_equal, {last, zero}, site_), beside_rest, site_);
    NodeRef element = value;
    if (!value->shape.empty()) {
      const NodeRef whole = common_in_front(broadcast_to_shape(value, result(), site_));
      const NodeRef flat =
          reshape_to(whole, joined(joined({picked}, ones(count() - 1)), rest_), site_);
      const NodeRef writer = record(
          Op::subtract, {cast_to(last, DType::i64, site_), record_constant(DType::i64, 1)}, site_);
      element =
          record(Op::gather, {flat, reshape_to(writer, beside_rest, site_)}, along(0, 1), site_);
    }
    const NodeRef changed = record(Op::select, {written, element, front()}, site_);
    std::vector<std::int64_t> back(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k)
      back[static_cast<std::size_t>(order_[k])] = static_cast<std::int64_t>(k);
    return permute(changed, std::move(back), site_);
  }

 private:
  std::size_t count() const { return indexed_.size(); }
  std::ptrdiff_t before() const { return static_cast<std::ptrdiff_t>(before_); }
  /// The node with the indexed axes moved to the front.
  NodeRef front() const { return permute(node_, order_, site_); }

  void add_common(const ir::Shape& shape) {
    try {
      common_ = ir::broadcast_shapes(common_, shape);
    } catch (const ShapeError&) {
      throw IndexError(
          at(fmt::format("the arrays that index {} do not broadcast: {} and {}", describe(*node_),
                         ir::to_string(common_), ir::to_string(shape)),
             site_));
    }
  }

  /// For each position along the indexed axes: 1 + the number of the last element written there, or
  /// 0 if none is.
  NodeRef last_writer(ir::Dim picked) const {
    constexpr std::int64_t most_narrow = std::numeric_limits<std::uint32_t>::max();
    const bool narrow = picked.is_constant() && picked.constant() < most_narrow;
    const DType dtype = narrow ? DType::u32 : DType::u64;
    const ir::Shape flat = joined({picked}, ones(count() - 1));
    const NodeRef number =
        record(Op::add, {record_iota(flat, 0, dtype, site_), record_constant(dtype, 1)}, site_);
    std::vector<NodeRef> operands = {number};
    for (const AxisIndex& one : indexed_) {
      operands.push_back(reshape_to(broadcast_to_shape(one.index, common_, site_), flat, site_));
    }
    return record(Op::scatter_max, operands, along(0, count(), extents_), site_);
  }

  /// Moves the common axes from the front to their final position; common_in_front is the inverse.
  NodeRef common_in_place(const NodeRef& node) const {
    std::vector<std::int64_t> axes;
    const auto common = static_cast<std::int64_t>(common_.size());
    const auto rest = static_cast<std::int64_t>(rest_.size());
    for (std::int64_t axis = 0; axis < before(); ++axis) axes.push_back(common + axis);
    for (std::int64_t axis = 0; axis < common; ++axis) axes.push_back(axis);
    for (std::int64_t axis = before(); axis < rest; ++axis) axes.push_back(common + axis);
    return permute(node, std::move(axes), site_);
  }

  NodeRef common_in_front(const NodeRef& node) const {
    std::vector<std::int64_t> axes;
    const auto common = static_cast<std::int64_t>(common_.size());
    const auto rest = static_cast<std::int64_t>(rest_.size());
    for (std::int64_t axis = 0; axis < common; ++axis) axes.push_back(before() + axis);
    for (std::int64_t axis = 0; axis < before(); ++axis) axes.push_back(axis);
    for (std::int64_t axis = before(); axis < rest; ++axis) axes.push_back(common + axis);
    return permute(node, std::move(axes), site_);
  }

  const NodeRef& node_;
  std::span<const AxisIndex> indexed_;
  Site site_;
  std::vector<std::int64_t> order_;  ///< indexed axes, then the rest
  ir::Shape extents_, rest_;         ///< of the indexed axes, and of the other axes
  ir::Shape common_;                 ///< broadcast shape of the indices
  std::size_t before_ = 0;           ///< number of other axes before the common axes
};

}  // namespace

NodeRef take_at(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
                const Site& site) {
  return Indexing(node, indexed, together, site).take();
}

ir::Shape taken_shape(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
                      const Site& site) {
  return Indexing(node, indexed, together, site).result();
}

NodeRef put_at(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
               const NodeRef& value, const Site& site) {
  return Indexing(node, indexed, together, site).put(value);
}

NodeRef take_along(const NodeRef& node, const NodeRef& index, std::size_t axis, const Site& site) {
  return record(Op::gather, {node, index}, along(axis, 1), site);
}

NodeRef put_along(const NodeRef& node, const NodeRef& index, std::size_t axis, const NodeRef& value,
                  const Site& site) {
  ir::Shape region = index->shape;
  for (std::size_t other = 0; other < region.size(); ++other) {
    if (other != axis) region[other] = node->shape[other];
  }
  if (ir::element_count(region) == ir::Dim(0)) return node;
  const NodeRef number =
      record(Op::add,
             {record_iota(region, static_cast<std::int64_t>(axis), DType::u64, site),
              record_constant(DType::u64, 1)},
             site);
  const NodeRef last = record(Op::scatter_max, {number, index}, along(axis, 1, node->shape), site);
  const NodeRef written = record(Op::not_equal, {last, record_constant(DType::u64, 0)}, site);
  const NodeRef writer =
      record(Op::subtract, {cast_to(last, DType::i64, site), record_constant(DType::i64, 1)}, site);
  const NodeRef element = take_along(broadcast_to_shape(value, region, site), writer, axis, site);
  return record(Op::select, {written, element, node}, site);
}

}  // namespace heddle::frontend
