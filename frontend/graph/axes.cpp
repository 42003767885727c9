#include "frontend/graph/axes.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "heddle/axis_error.h"

#include "frontend/graph/open_extents.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

std::vector<std::int64_t> all_axes(int rank) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::int64_t axis_of(std::string_view op, std::int64_t axis, int rank, const Site& site) {
  if (axis < -rank || axis >= rank) {
    throw AxisError(
        at(fmt::format("{}: axis {} is out of bounds for an array of {} axes", op, axis, rank),
           site),
        axis, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> axes_of(std::string_view op, const Axes& axes, int rank,
                                  const Site& site) {
  if (axes.all()) return all_axes(rank);
  std::vector<std::int64_t> result;
  for (std::int64_t axis : axes.values()) {
    const std::int64_t place = axis_of(op, axis, rank, site);
    if (std::find(result.begin(), result.end(), place) != result.end()) {
      throw ValueError(at(fmt::format("{}: axis {} is given twice", op, axis), site));
    }
    result.push_back(place);
  }
  return result;
}

std::int64_t constant_extent(std::string_view op, const NodeRef& node, std::int64_t axis,
                             const Site& site) {
  const ir::Dim extent = extent_of(node, axis);
  if (!extent.is_constant()) {
    fail_open({.first = extent},
              at(fmt::format("{}({}): axis {} has a symbolic extent, but the result's shape "
                             "depends on it; make it fixed (hd::fixed, in Python None)",
                             op, describe(*node), axis),
                 site));
  }
  return extent.constant();
}

Shape constant_shape(std::string_view op, const NodeRef& node, const Site& site) {
  Shape shape;
  for (std::int64_t axis : all_axes(rank_of(node))) {
    shape.push_back(constant_extent(op, node, axis, site));
  }
  return shape;
}

void require_rank(std::string_view op, const NodeRef& node, int least, const Site& site) {
  if (rank_of(node) >= least) return;
  throw ShapeError(at(
      fmt::format("{}({}): needs an array of at least {} axes", op, describe(*node), least), site));
}

}  // namespace heddle::frontend
