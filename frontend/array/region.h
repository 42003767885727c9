#pragma once

#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Integers that index an axis.
struct AxisIndex {
  std::size_t axis;
  NodeRef index;
};

/// Subscripts as a slice of every axis, what is left of that, and which axes of what is left are
/// then indexed by arrays.
struct Region {
  ir::Attributes slice;            ///< starts, steps, shape: one for each axis of the array
  ir::Shape result;                ///< without the axes that integers took, with the new ones
  bool whole = true;               ///< the slice is the array
  std::vector<AxisIndex> indexed;  ///< axes of `result`, in order
  bool together = true;            ///< nothing else stands between them
};

/// Throws IndexError for an integer that is known to be outside an axis, from either end. `axis` is
/// the array's.
void check_index(const NodeRef& node, std::size_t axis, std::int64_t index, const Site& site);

/// Throws IndexError and ShapeError. Masks are evaluated.
Region region_of(const NodeRef& node, const std::vector<IndexItem>& items,
                 const SourceLocation& site);

/// The region's slice of the node, in the shape of `result`.
NodeRef sliced(const NodeRef& node, const Region& region, const Site& site);

/// Where a mask holds, or where its elements are not 0: an i64[count] for each axis, in C order, at
/// least one. Evaluates and waits. TraceError, naming `op`, inside a trace.
std::vector<NodeRef> nonzero_places(std::string_view op, const NodeRef& mask,
                                    const SourceLocation& site);

}  // namespace heddle::frontend
