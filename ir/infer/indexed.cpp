#include "ir/infer/call.h"

namespace heddle::ir {
namespace {

std::size_t index_count(const Call& call) { return call.operands.size() - 1; }

/// Checks the axes (one for each operand after the first), and the dtypes of those operands.
void check_indices(const Call& call, int rank) {
  const std::vector<std::int64_t>& axes = call.attributes.axes;
  if (call.operands.size() < 2 || axes.size() != index_count(call)) {
    fail<ValueError>(call, "needs one index operand for each of the axes [{}], not {}",
                     fmt::join(axes, ","), call.operands.empty() ? 0 : index_count(call));
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    checked_axis(call, axes[k], rank);
    if (k > 0 && axes[k - 1] >= axes[k]) {
      fail<ValueError>(call, "axes [{}] must be sorted, each named once", fmt::join(axes, ","));
    }
    if ((integers & set_of(call.operand(k + 1).dtype)) == 0) {
      fail<DTypeError>(call,
                       "operand {} holds indices and must have an integer dtype, not {}; cast it",
                       k + 1, numpy_name_of(call.operand(k + 1).dtype));
    }
  }
}

Dim product(const Shape& shape) {
  Dim result = 1;
  for (const Dim extent : shape) result *= extent;
  return result;
}

}  // namespace

Type infer_gather(const Call& call) {
  if (call.operands.empty()) fail<ValueError>(call, "needs at least two operands");
  check_indices(call, call.rank());
  check_allowed(call, call.operand(0).dtype);
  Type result = call.operand(0);
  for (const std::int64_t axis : call.attributes.axes)
    result.shape[static_cast<std::size_t>(axis)] = 1;
  for (std::size_t k = 1; k < call.operands.size(); ++k) {
    if (call.operand(k).shape.size() > result.shape.size()) {
      fail<ShapeError>(call, "operand {} has more dimensions than operand 0, which has {}", k,
                       call.rank());
    }
    result.shape = broadcast(call, result.shape, call.operand(k).shape);
  }
  for (const std::int64_t axis : call.attributes.axes) {
    const Dim extent = call.operand(0).shape[static_cast<std::size_t>(axis)];
    const Dim asked = product(result.shape);
    // From an axis that is certainly empty, no element may be read. Otherwise the axis must not be
    // empty.
    const Dim room = extent == Dim(0) ? Dim(0) - asked : extent - 1;
    require(call, Requirement::Breach::index, room, asked, [&] {
      return fmt::format("axis {} has no elements, but {} elements are read", axis,
                         asked.to_string());
    });
  }
  return result;
}

Shape scatter_region(std::span<const Type> operands) {
  Shape region = operands[0].shape;
  for (const Type& operand : operands.subspan(1)) region = broadcast_shapes(region, operand.shape);
  return region;
}

Type infer_scatter(const Call& call) {
  const Shape& shape = call.attributes.shape;
  check_indices(call, static_cast<int>(shape.size()));
  check_allowed(call, call.operand(0).dtype);
  Shape region = call.operand(0).shape;
  for (const Type& operand : call.operands.subspan(1))
    region = broadcast(call, region, operand.shape);
  if (region.size() != shape.size()) {
    fail<ShapeError>(
        call, "the operands broadcast to {}, which must have the {} dimensions of the result {}",
        to_string(region), shape.size(), to_string(shape));
  }
  auto indexed = call.attributes.axes.begin();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (indexed != call.attributes.axes.end() && *indexed == static_cast<std::int64_t>(axis)) {
      ++indexed;
    } else if (region[axis] != shape[axis]) {
      fail<ShapeError>(call,
                       "the operands broadcast to {}; axis {} is not indexed, so its extent must "
                       "be the result's {}",
                       to_string(region), axis, shape[axis].to_string());
    }
  }
  return {call.operand(0).dtype, shape};
}

}  // namespace heddle::ir
