#include "heddle/dynamic_slices.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/runs.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/counter.h"
#include "frontend/graph/placement.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::describe;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record;
using frontend::Run;
using ir::Op;

namespace {

/// A slice of a fixed size of each axis of an array.
struct Slices {
  ir::Attributes region;  ///< of the axes whose starts are known; the others are whole
  std::vector<Run> runs;  ///< of the other axes
};

/// The integer of a start. Integers beyond int64 are clamped later, as all starts.
std::int64_t integer_of(std::string_view op, const Operand& start) {
  const Scalar& scalar = start.scalar();
  switch (scalar.kind) {
    case Scalar::Kind::integer:
      return scalar.integer;
    case Scalar::Kind::unsigned_integer:
      return static_cast<std::int64_t>(std::min<std::uint64_t>(scalar.unsigned_integer, INT64_MAX));
    case Scalar::Kind::large_integer:
      return scalar.floating < 0 ? INT64_MIN / 2 : INT64_MAX;
    default:
      throw DTypeError(
          at(fmt::format("{}: a start is an integer or a 0-d array of integers, not {}", op,
                         frontend::text_of(scalar)),
             start.where()));
  }
}

/// A start in an axis with room for `room` other ones.
ir::Dim clamped(std::int64_t start, ir::Dim extent, ir::Dim room) {
  if (!room.is_constant()) return start < 0 ? extent + start : ir::Dim(start);
  const std::int64_t from_start = start < 0 ? start + extent.constant() : start;
  return std::clamp<std::int64_t>(from_start, 0, room.constant());
}

/// The start as i64, counted from the end if it is negative, and clamped.
NodeRef clamped(const NodeRef& start, ir::Dim extent, ir::Dim room, const OpRecorder& on) {
  NodeRef index = start;
  if (start->dtype == DType::u64) {
    const NodeRef limit = frontend::record_scalar(DType::u64, std::uint64_t{INT64_MAX}, true);
    index = on(Op::minimum, start, limit);
  }
  index = on.cast(index, DType::i64);
  const NodeRef zero = frontend::record_constant(DType::i64, 0);
  const NodeRef from_end = on(Op::add, index, on.extent(extent));
  index = on(Op::select, on(Op::less, index, zero), from_end, index);
  return on(Op::maximum, on(Op::minimum, index, on.extent(room)), zero);
}

class SlicesBuilder {
 public:
  SlicesBuilder(std::string_view op, const NodeRef& node, const SourceLocation& site)
      : op_(op), node_(node), on_{site} {}

  Slices build(const std::vector<Operand>& starts, const ir::Shape& sizes) {
    const std::size_t rank = node_->shape.size();
    if (starts.size() != rank || sizes.size() != rank) {
      throw ShapeError(at(fmt::format("{}: {} starts and {} sizes for {}, which has {} axes", op_,
                                      starts.size(), sizes.size(), describe(*node_), rank),
                          on_.site));
    }
    for (std::size_t axis = 0; axis < rank; ++axis) add(starts[axis], axis, sizes[axis]);
    return std::move(slices_);
  }

 private:
  void add(const Operand& start, std::size_t axis, ir::Dim size) {
    const ir::Dim extent = node_->shape[axis], room = extent - size;
    if (!(size.is_non_negative()) || (room.is_constant() && room.constant() < 0)) {
      throw ShapeError(at(fmt::format("{}: the slice has {} elements along axis {} of {}", op_,
                                      size.to_string(), axis, describe(*node_)),
                          on_.site));
    }
    if (const auto first = known_start(start, extent, size)) return add_axis(*first, size);
    if (!size.is_constant()) {
      throw ShapeError(at(fmt::format("{}: the slice has the symbolic extent {} along axis {}, so "
                                      "its start must be 0",
                                      op_, size.to_string(), axis),
                          on_.site));
    }
    const NodeRef index =
        start.array() != nullptr
            ? Access::node(*start.array(), start.where())
            : frontend::record_scalar(DType::i64,
                                      static_cast<std::uint64_t>(integer_of(op_, start)), true);
    slices_.runs.push_back({.axis = axis,
                            .start = clamped(index, extent, room, on_),
                            .count = size.constant(),
                            .inside = true});
    add_axis(0, extent);
  }

  /// The start of a slice that is certainly inside of the array, or is checked at launch to be.
  std::optional<ir::Dim> known_start(const Operand& start, ir::Dim extent, ir::Dim size) {
    const ir::Dim room = extent - size;
    if (start.array() == nullptr) {
      const ir::Dim first = clamped(integer_of(op_, start), extent, room);
      const bool is_inside = first.is_non_negative() && (room - first).is_non_negative();
      const bool is_end = first == ir::Dim(0) || first == room;
      return is_inside || is_end ? std::optional(first) : std::nullopt;
    }
    const NodeRef index = Access::node(*start.array(), start.where());
    if (!index->shape.empty() || !is_integer(index->dtype)) {
      throw DTypeError(
          at(fmt::format("{}: a start is an integer or a 0-d array of integers, not {}", op_,
                         describe(*index)),
             start.where()));
    }
    if (room == ir::Dim(0)) return ir::Dim(0);
    const auto counted = frontend::counter_expression(*index);
    return counted ? frontend::start_of_count(*counted, size, extent) : std::nullopt;
  }

  void add_axis(ir::Dim start, ir::Dim size) {
    slices_.region.starts.push_back(start);
    slices_.region.steps.push_back(1);
    slices_.region.shape.push_back(size);
  }

  std::string_view op_;
  const NodeRef& node_;
  OpRecorder on_;
  Slices slices_;
};

bool is_whole(const NodeRef& node, const Slices& slices) {
  return slices.region.shape == node->shape;
}

Array read(std::string_view op, const NodeRef& node, const std::vector<Operand>& starts,
           const ir::Shape& sizes, const SourceLocation& site) {
  const Slices slices = SlicesBuilder(op, node, site).build(starts, sizes);
  const NodeRef part =
      is_whole(node, slices) ? node : record(Op::slice, {node}, slices.region, site);
  return Access::make(frontend::read_runs(part, slices.runs, site));
}

Array written(std::string_view op, const NodeRef& node, const NodeRef& update,
              const std::vector<Operand>& starts, const SourceLocation& site) {
  frontend::require_same_device(op, *node, *update, site);
  if (update->shape.size() != node->shape.size()) {
    throw ShapeError(at(fmt::format("{}: the update {} has not as many axes as {}", op,
                                    describe(*update), describe(*node)),
                        site));
  }
  const Slices slices = SlicesBuilder(op, node, site).build(starts, update->shape);
  if (ir::element_count(update->shape) == ir::Dim(0)) return Access::make(node);
  const bool whole = is_whole(node, slices);
  if (slices.runs.empty() && whole) return Access::make(update);
  if (slices.runs.empty())
    return Access::make(record(Op::slice_update, {node, update}, slices.region, site));
  const NodeRef part = whole ? node : record(Op::slice, {node}, slices.region, site);
  const NodeRef changed = frontend::write_runs(part, slices.runs, update, site);
  return Access::make(whole ? changed
                            : record(Op::slice_update, {node, changed}, slices.region, site));
}

/// What is written: an array of the same dtype, or a number.
NodeRef update_node(std::string_view op, const NodeRef& node, const Operand& update) {
  const NodeRef value = update.array() == nullptr ? frontend::node_of(op, update, node->dtype)
                                                  : Access::node(*update.array(), update.where());
  if (value->dtype == node->dtype) return value;
  if (value->weak) return frontend::cast_to(value, node->dtype, update.where(), op);
  throw DTypeError(at(fmt::format("{}: the update {} has not the dtype of {}; cast it with astype",
                                  op, describe(*value), describe(*node)),
                      update.where()));
}

/// Starts of whole axes but one.
std::vector<Operand> starts_along(const NodeRef& node, std::size_t axis, const Operand& start) {
  std::vector<Operand> starts(node->shape.size(), Operand(0, start.where()));
  starts[axis] = start;
  return starts;
}

std::size_t place_of(std::string_view op, const NodeRef& node, std::int64_t axis,
                     const SourceLocation& site) {
  return static_cast<std::size_t>(frontend::axis_of(op, axis, frontend::rank_of(node), site));
}

Array read_along(std::string_view op, const Operand& x, const Operand& start, std::int64_t size,
                 std::int64_t axis) {
  const NodeRef node = frontend::node_of(op, x);
  const std::size_t place = place_of(op, node, axis, x.where());
  ir::Shape sizes = node->shape;
  sizes[place] = size;
  return read(op, node, starts_along(node, place, start), sizes, x.where());
}

}  // namespace

Array dynamic_slice(const Operand& x, const std::vector<Operand>& starts, const Shape& sizes) {
  return read("dynamic_slice", frontend::node_of("dynamic_slice", x), starts,
              frontend::to_ir(sizes), x.where());
}

Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis) {
  return read_along("dynamic_slice_in_dim", x, start, size, axis);
}

Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis,
                           bool keepdims) {
  const Array element = read_along("dynamic_index_in_dim", x, index, 1, axis);
  if (keepdims) return element;
  const NodeRef node = Access::node(element, x.where());
  const std::size_t place = place_of("dynamic_index_in_dim", node, axis, x.where());
  ir::Shape shape = node->shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(place));
  return Access::make(frontend::reshape_to(node, std::move(shape), x.where()));
}

Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Operand>& starts) {
  const NodeRef node = frontend::node_of("dynamic_update_slice", x);
  return written("dynamic_update_slice", node, update_node("dynamic_update_slice", node, update),
                 starts, x.where());
}

Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  std::int64_t axis) {
  const std::string_view op = "dynamic_update_slice_in_dim";
  const NodeRef node = frontend::node_of(op, x);
  const std::size_t place = place_of(op, node, axis, x.where());
  return written(op, node, update_node(op, node, update), starts_along(node, place, start),
                 x.where());
}

Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  std::int64_t axis) {
  const std::string_view op = "dynamic_update_index_in_dim";
  const NodeRef node = frontend::node_of(op, x);
  const std::size_t place = place_of(op, node, axis, x.where());
  NodeRef value = update_node(op, node, update);
  if (value->shape.size() + 1 == node->shape.size())
    value = frontend::insert_axis(value, static_cast<std::int64_t>(place), x.where());
  if (value->shape.size() == node->shape.size() && value->shape[place] != ir::Dim(1)) {
    throw ShapeError(at(fmt::format("{}: the update {} has several elements along axis {}", op,
                                    describe(*value), place),
                        x.where()));
  }
  return written(op, node, value, starts_along(node, place, index), x.where());
}

}  // namespace heddle
