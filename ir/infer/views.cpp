#include <algorithm>

#include "ir/infer/call.h"

namespace heddle::ir {
namespace {

Type infer_reshape(const Call& call) {
  const auto& [dtype, shape] = call.operand(0);
  const Dim from = element_count(shape), to = element_count(call.attributes.shape);
  if (from != to) {
    fail<ShapeError>(call, "cannot reshape to {}: the operand has {} elements, not {}",
                     to_string(call.attributes.shape), from.to_string(), to.to_string());
  }
  return {dtype, call.attributes.shape};
}

Type infer_transpose(const Call& call) {
  const std::vector<std::int64_t>& axes = call.attributes.axes;
  const int rank = call.rank();
  if (static_cast<int>(axes.size()) != rank) {
    fail<ValueError>(call, "axes [{}] must name each of the {} axes once", fmt::join(axes, ","),
                     rank);
  }
  std::vector<bool> seen(axes.size());
  Type result{call.operand(0).dtype, {}};
  for (std::int64_t axis : axes) {
    const auto place = static_cast<std::size_t>(checked_axis(call, axis, rank));
    if (seen[place]) {
      fail<ValueError>(call, "axes [{}] name axis {} twice", fmt::join(axes, ","), axis);
    }
    seen[place] = true;
    result.shape.push_back(call.operand(0).shape[place]);
  }
  return result;
}
Type infer_broadcast_to(const Call& call) {
  const auto& [dtype, shape] = call.operand(0);
  if (!broadcasts_to(shape, call.attributes.shape)) {
    fail<ShapeError>(call, "does not broadcast to {}; extents must be equal or 1",
                     to_string(call.attributes.shape));
  }
  return {dtype, call.attributes.shape};
}

/// Requires the region to lie inside the axis at one end. `room` is the distance to that end,
/// negative if the region is outside.
void check_room(const Call& call, std::size_t axis, Dim room) {
  const Attributes& attributes = call.attributes;
  require(call, Requirement::Breach::index, room, attributes.shape[axis], [&] {
    return fmt::format("start {} step {} extent {} is out of bounds for axis {} of extent {}",
                       attributes.starts[axis].to_string(), attributes.steps[axis].to_string(),
                       attributes.shape[axis].to_string(), axis,
                       call.operand(0).shape[axis].to_string());
  });
}

/// Requires a step that is >= 1 or <= -1 for all values of the symbols.
void check_step(const Call& call, std::size_t axis) {
  const Dim step = call.attributes.steps[axis];
  if (!step.is_non_negative() && !step.is_non_positive()) {
    fail<ValueError>(
        call, "the step {} of axis {} has no known sign; only its magnitude may depend on symbols",
        step.to_string(), axis);
  }
  require(call, Requirement::Breach::value, (step.is_non_positive() ? Dim(0) - step : step) - 1, 1,
          [&] { return fmt::format("the step of axis {} is 0", axis); });
}

/// Checks the region of a slice or slice_update: one start, step and extent for each axis of
/// operand 0, inside that axis.
void check_region(const Call& call) {
  const Attributes& attributes = call.attributes;
  const Shape& shape = call.operand(0).shape;
  const std::size_t rank = shape.size();
  if (attributes.shape.size() != rank || attributes.starts.size() != rank ||
      attributes.steps.size() != rank) {
    fail<ShapeError>(call, "needs {} extents, starts and steps, not {}, {} and {}", rank,
                     attributes.shape.size(), attributes.starts.size(), attributes.steps.size());
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    check_step(call, axis);
    const Dim start = attributes.starts[axis], extent = attributes.shape[axis];
    const bool backwards = attributes.steps[axis].is_non_positive();
    if (extent == Dim(0)) continue;
    require(call, Requirement::Breach::shape, extent, 1, [&] {
      return fmt::format("axis {} has the negative extent {}", axis, extent.to_string());
    });
    const Dim last = start + (extent - 1) * attributes.steps[axis];
    check_room(call, axis, backwards ? last : start);
    check_room(call, axis, shape[axis] - 1 - (backwards ? start : last));
  }
}

Type infer_slice(const Call& call) {
  check_region(call);
  return {call.operand(0).dtype, call.attributes.shape};
}

Type infer_slice_update(const Call& call) {
  common_dtype(call, 0, 2);
  check_region(call);
  if (!broadcasts_to(call.operand(1).shape, call.attributes.shape)) {
    fail<ShapeError>(call, "the value's shape {} does not broadcast to the region's, {}",
                     to_string(call.operand(1).shape), to_string(call.attributes.shape));
  }
  return call.operand(0);
}

Type infer_concatenate(const Call& call) {
  if (call.operands.empty()) fail<ValueError>(call, "needs at least one operand");
  if (call.rank() == 0) {
    fail<ShapeError>(call, "0-d arrays cannot be concatenated; reshape them to [1]");
  }
  Type result{common_dtype(call, 0, call.operands.size()), call.operand(0).shape};
  const auto axis = static_cast<std::size_t>(single_axis(call, call.rank()));
  for (const Type& operand : call.operands.subspan(1)) {
    Shape expected = result.shape;
    if (operand.shape.size() == expected.size()) expected[axis] = operand.shape[axis];
    if (operand.shape != expected) {
      fail<ShapeError>(call, "shapes {} and {} must be equal except along axis {}",
                       to_string(call.operand(0).shape), to_string(operand.shape), axis);
    }
    result.shape[axis] += operand.shape[axis];
  }
  return result;
}
}  // namespace

Type infer_view(const Call& call) {
  check_allowed(call, call.operand(0).dtype);
  switch (call.op) {
    case Op::reshape:
      return infer_reshape(call);
    case Op::transpose:
      return infer_transpose(call);
    case Op::broadcast_to:
      return infer_broadcast_to(call);
    case Op::slice:
      return infer_slice(call);
    default:
      throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
  }
}

Type infer_piecewise(const Call& call) {
  switch (call.op) {
    case Op::concatenate:
      return infer_concatenate(call);
    case Op::slice_update:
      return infer_slice_update(call);
    default:
      throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
  }
}

}  // namespace heddle::ir
