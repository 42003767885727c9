#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

inline int rank_of(const NodeRef& node) { return static_cast<int>(node->shape.size()); }
inline ir::Dim extent_of(const NodeRef& node, std::int64_t axis) {
  return node->shape[static_cast<std::size_t>(axis)];
}
/// 0, 1 ... rank - 1.
std::vector<std::int64_t> all_axes(int rank);

/// Returns the axis in [0, rank). AxisError names the op and the array.
std::int64_t axis_of(std::string_view op, std::int64_t axis, int rank, const Site& site);
/// Returns the axes in [0, rank), in the given order; all axes if Axes names none. AxisError for an
/// axis out of range, ValueError for a repeated axis.
std::vector<std::int64_t> axes_of(std::string_view op, const Axes& axes, int rank,
                                  const Site& site);

/// Returns an extent on which the shape of the result depends. ShapeError, naming the op, if it is
/// symbolic.
std::int64_t constant_extent(std::string_view op, const NodeRef& node, std::int64_t axis,
                             const Site& site);
/// The same for all extents.
Shape constant_shape(std::string_view op, const NodeRef& node, const Site& site);
/// ShapeError unless the array has at least that many axes.
void require_rank(std::string_view op, const NodeRef& node, int least, const Site& site);

}  // namespace heddle::frontend
