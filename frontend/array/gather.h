#pragma once

#include <span>

#include "frontend/array/region.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

/// The elements of a node that indices along some of its axes pick, together after broadcasting.
/// The axes that the indices have in common come in the place of the first indexed axis where these
/// stand `together`, else in front. IndexError when the indices do not broadcast.
NodeRef take_at(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
                const Site& site);

/// The shape that take_at gives.
ir::Shape taken_shape(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
                      const Site& site);

/// The node with a value written where take_at would read; the value broadcasts to taken_shape. Of
/// several elements that go to one place the last stays, in C order.
NodeRef put_at(const NodeRef& node, std::span<const AxisIndex> indexed, bool together,
               const NodeRef& value, const Site& site);

/// numpy.take_along_axis for an axis in range. Extents of other axes are equal or 1.
NodeRef take_along(const NodeRef& node, const NodeRef& index, std::size_t axis, const Site& site);
/// The node with a value written where take_along would read.
NodeRef put_along(const NodeRef& node, const NodeRef& index, std::size_t axis, const NodeRef& value,
                  const Site& site);

}  // namespace heddle::frontend
