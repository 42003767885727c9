#include "passes/rewrite/step_slices.h"

#include <algorithm>
#include <numeric>

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

/// Adds nodes at one location.
class Views {
 public:
  Views(Graph& graph, const ir::Location& location) : graph_(graph), location_(location) {}

  ValueId reshaped(ValueId value, ir::Shape shape) { return shaped(Op::reshape, value, shape); }
  ValueId broadcast(ValueId value, ir::Shape shape) {
    return shaped(Op::broadcast_to, value, shape);
  }
  /// The value with an axis at another position.
  ValueId moved(ValueId value, std::size_t from, std::size_t to) {
    if (from == to) return value;
    ir::Attributes order;
    order.axes.resize(graph_.shape(value).size());
    std::iota(order.axes.begin(), order.axes.end(), 0);
    order.axes.erase(order.axes.begin() + static_cast<std::ptrdiff_t>(from));
    order.axes.insert(order.axes.begin() + static_cast<std::ptrdiff_t>(to),
                      static_cast<std::int64_t>(from));
    return graph_.add(Op::transpose, {value}, std::move(order), location_);
  }
  ValueId slice(ValueId value, const SteppedRegion& region) {
    return graph_.add(Op::slice, {value}, attributes(region), location_);
  }
  ValueId update(ValueId value, ValueId part, const SteppedRegion& region) {
    return graph_.add(Op::slice_update, {value, part}, attributes(region), location_);
  }
  const ir::Shape& shape(ValueId value) const { return graph_.shape(value); }

 private:
  ValueId shaped(Op op, ValueId value, ir::Shape shape) {
    ir::Attributes attributes;
    attributes.shape = std::move(shape);
    return graph_.add(op, {value}, std::move(attributes), location_);
  }
  static ir::Attributes attributes(const SteppedRegion& region) {
    ir::Attributes result;
    for (const SteppedRegion::Axis& axis : region.axes) {
      result.starts.push_back(axis.start);
      result.steps.emplace_back(axis.step);
      result.shape.emplace_back(axis.extent);
    }
    return result;
  }

  Graph& graph_;
  const ir::Location& location_;
};

/// The region of all steps, which has one element along the axis that it moves along.
SteppedRegion of_all_steps(SteppedRegion region, std::size_t axis, std::int64_t steps) {
  region.axes[axis] = {region.axes[axis].start, 0, region.axes[axis].growth, steps};
  return region;
}

/// Windows along an axis. The array is repeated, and split into rows that are as much longer than
/// the axis as a window begins after the one before it: so each row begins that much later.
ValueId windows(Views& views, ValueId array, const SteppedRegion& region, std::size_t axis,
                std::int64_t steps) {
  const SteppedRegion::Axis& window = region.axes[axis];
  const ir::Shape shape = views.shape(array);
  const std::int64_t extent = shape[axis].constant(), row = extent + window.growth;
  const std::int64_t copies = (steps * row + extent - 1) / extent;
  const auto with = [&](std::initializer_list<std::int64_t> extents) {
    ir::Shape result = shape;
    const auto at = result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
    result.insert(at, extents.begin(), extents.end());
    return result;
  };
  ValueId line = views.broadcast(views.reshaped(array, with({1, extent})), with({copies, extent}));
  line = views.reshaped(line, with({copies * extent}));
  SteppedRegion part;
  for (const Dim whole : shape) part.axes.push_back({Dim(0), 0, 1, whole.constant()});
  part.axes[axis].extent = steps * row;
  const ValueId rows = views.reshaped(views.slice(line, part), with({steps, row}));
  SteppedRegion all = region;
  all.axes[axis].growth = 0;
  all.axes.insert(all.axes.begin() + static_cast<std::ptrdiff_t>(axis), {Dim(0), 0, 1, steps});
  return views.moved(views.slice(rows, all), axis, 0);
}

/// What has the same index on the first two axes, along the first.
ValueId diagonal(Views& views, ValueId array, std::int64_t steps) {
  const ir::Shape shape = views.shape(array);
  ir::Shape flat(shape.begin() + 1, shape.end());
  flat[0] = steps * steps;
  SteppedRegion part;
  for (const Dim whole : flat) part.axes.push_back({Dim(0), 0, 1, whole.constant()});
  part.axes[0] = {Dim(0), 0, steps + 1, steps};
  return views.slice(views.reshaped(array, flat), part);
}

}  // namespace

bool can_slice_steps(const SteppedRegion& region, const ir::Shape& array) {
  const std::vector<std::size_t> moving = region.moving();
  const bool is_window =
      moving.size() == 1 && region.axes[moving[0]].growth > 0 && ir::is_constant(array);
  return is_window || std::ranges::all_of(
                          moving, [&](std::size_t axis) { return region.axes[axis].extent == 1; });
}

ValueId step_slices(Graph& graph, ValueId array, const SteppedRegion& region, std::int64_t steps,
                    const ir::Location& location) {
  Views views(graph, location);
  const std::vector<std::size_t> moving = region.moving();
  if (moving.empty()) return views.slice(array, region);
  if (region.axes[moving[0]].extent > 1) return windows(views, array, region, moving[0], steps);
  SteppedRegion whole = region;
  for (const std::size_t axis : moving) whole = of_all_steps(whole, axis, steps);
  ValueId all = views.slice(array, whole);
  for (std::size_t i = 0; i < moving.size(); ++i) all = views.moved(all, moving[i], i);
  for (std::size_t i = 1; i < moving.size(); ++i) all = diagonal(views, all, steps);
  ir::Shape shape = {steps};
  for (const SteppedRegion::Axis& one : region.axes) shape.emplace_back(one.extent);
  return views.reshaped(all, shape);
}

bool can_write_steps(const SteppedRegion& region) {
  const std::vector<std::size_t> moving = region.moving();
  return moving.size() == 1 && region.axes[moving[0]].extent == 1;
}

ValueId with_step_slices(Graph& graph, ValueId array, ValueId values, const SteppedRegion& region,
                         std::int64_t steps, const ir::Location& location) {
  Views views(graph, location);
  const std::size_t axis = region.moving()[0];
  ir::Shape shape = views.shape(values);
  shape.erase(shape.begin() + 1 + static_cast<std::ptrdiff_t>(axis));
  const ValueId part = views.moved(views.reshaped(values, shape), 0, axis);
  return views.update(array, part, of_all_steps(region, axis, steps));
}

}  // namespace heddle::passes
