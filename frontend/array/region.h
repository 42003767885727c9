#pragma once

#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/array/runs.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

/// An integer index array for an axis.
struct AxisIndex {
  std::size_t axis;
  NodeRef index;
};

/// Subscripts in normalised form. They are applied in four steps: slice every axis, slice some of
/// them dynamically, reshape to `result`, then index the axes `indexed` of it by arrays.
struct Region {
  ir::Attributes slice;            ///< starts, steps, shape: one for each axis of the array
  std::vector<Run> runs;           ///< of axes whose slice is whole
  ir::Shape result;                ///< axes with an integer subscript removed, new axes inserted
  bool whole = true;               ///< `slice` is the whole array
  std::vector<AxisIndex> indexed;  ///< axes of `result`, in order
  bool together = true;            ///< index arrays are adjacent
};

/// Throws IndexError for an integer outside [-extent, extent) of an axis, if the extent is known.
void check_index(const NodeRef& node, std::size_t axis, std::int64_t index, const Site& site);

/// Normalises the subscripts. Throws IndexError and ShapeError. Evaluates masks.
Region region_of(const NodeRef& node, const std::vector<IndexItem>& items,
                 const SourceLocation& site);

/// The node's elements in the region's slices, reshaped to `result`.
NodeRef sliced(const NodeRef& node, const Region& region, const SourceLocation& site);

/// The indices of the true or nonzero elements of a mask, in C order. One i64[count] for each axis;
/// a 0-d mask counts as having one axis. Evaluates and waits. Inside a trace, throws a TraceError
/// that names `op`.
std::vector<NodeRef> nonzero_indices(std::string_view op, const NodeRef& mask,
                                     const SourceLocation& site);

}  // namespace heddle::frontend
