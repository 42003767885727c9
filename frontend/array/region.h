#pragma once

#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// An integer index array for an axis.
struct AxisIndex {
  std::size_t axis;
  NodeRef index;
};

/// Subscripts in normalised form: a slice of every axis, the shape after that, and the axes of this
/// shape that are then indexed by arrays.
struct Region {
  ir::Attributes slice;            ///< starts, steps, shape: one for each axis of the array
  ir::Shape result;                ///< without the axes of integer subscripts, with new axes
  bool whole = true;               ///< the slice is the whole array
  std::vector<AxisIndex> indexed;  ///< axes of `result`, in order
  bool together = true;            ///< index arrays are adjacent
};

/// Throws IndexError for an integer outside [-extent, extent) of an axis, if the extent is known.
void check_index(const NodeRef& node, std::size_t axis, std::int64_t index, const Site& site);

/// Normalises the subscripts. Throws IndexError and ShapeError. Evaluates masks.
Region region_of(const NodeRef& node, const std::vector<IndexItem>& items,
                 const SourceLocation& site);

/// The region's slice of the node, in the shape of `result`.
NodeRef sliced(const NodeRef& node, const Region& region, const Site& site);

/// The indices of the true or nonzero elements of a mask, in C order: one i64[count] for each axis,
/// at least one. Evaluates and waits. TraceError, naming `op`, inside a trace.
std::vector<NodeRef> nonzero_indices(std::string_view op, const NodeRef& mask,
                                     const SourceLocation& site);

}  // namespace heddle::frontend
