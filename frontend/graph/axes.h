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

/// The axis in [0, rank). AxisError, which names the op and the array.
std::int64_t axis_of(std::string_view op, std::int64_t axis, int rank, const Site& site);
/// The axes in [0, rank), in the order given and each once; for Axes that name none, all of them.
/// AxisError; ValueError for an axis given twice.
std::vector<std::int64_t> axes_of(std::string_view op, const Axes& axes, int rank,
                                  const Site& site);

/// An extent that the result's shape hangs on. ShapeError, naming the op, where it is a symbol.
std::int64_t constant_extent(std::string_view op, const NodeRef& node, std::int64_t axis,
                             const Site& site);
/// All of them.
Shape constant_shape(std::string_view op, const NodeRef& node, const Site& site);
/// ShapeError unless the array has at least that many axes.
void require_rank(std::string_view op, const NodeRef& node, int least, const Site& site);

}  // namespace heddle::frontend
