#pragma once

#include <span>

#include "frontend/array/region.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Selects elements of a node by index arrays along some axes; the index arrays broadcast together.
/// Their common axes replace the first indexed axis if `together`, else they come first. IndexError
/// if the index arrays do not broadcast.
NodeRef take_at(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
                const Site& site);

/// The shape of take_at's result.
ir::Shape taken_shape(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
                      const Site& site);

/// The node with a value written to the elements that take_at would read. The value broadcasts to
/// taken_shape. If an element is written several times, the last value in C order is kept.
NodeRef put_at(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
               const NodeRef& value, const Site& site);

/// numpy.take_along_axis for an axis in range. Along the other axes, extents are equal or 1.
NodeRef take_along(const NodeRef& node, const NodeRef& index, std::size_t axis, const Site& site);
/// The node with a value written to the elements that take_along would read.
NodeRef put_along(const NodeRef& node, const NodeRef& index, std::size_t axis, const NodeRef& value,
                  const Site& site);

}  // namespace heddle::frontend
