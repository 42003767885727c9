#pragma once

#include <cstdint>
#include <span>

#include "frontend/graph/record.h"

// Slices whose starts are values in memory. Starts that are known while recording, and those that
// are linear in a loop's counter, are starts of ir::Op::slice instead.

namespace heddle::frontend {

/// Elements start, start + step ... of an axis, `count` of them.
struct Run {
  std::size_t axis;
  NodeRef start;  ///< i64[]
  std::int64_t step = 1, count = 0;
  /// Whether all elements are certainly inside of the axis. If not, each index is treated as one of
  /// an index array: -1 is the last element, and an index out of range reads the nearest element
  /// and writes nothing.
  bool inside = false;
};

/// The indices of the run's elements, i64[count].
NodeRef indices_of(const Run& run, const SourceLocation& site);
/// An array's shape with the lengths of the runs as extents of their axes.
ir::Shape shape_of_runs(ir::Shape shape, std::span<const Run> runs);
/// The node's elements in these runs, at most one for each axis. Other axes stay whole.
NodeRef read_runs(const NodeRef& node, std::span<const Run> runs, const SourceLocation& site);
/// The node with a value written to its elements in these runs. The value broadcasts to
/// shape_of_runs(). If an element is written several times, the last value is kept.
NodeRef write_runs(const NodeRef& node, std::span<const Run> runs, const NodeRef& value,
                   const SourceLocation& site);

}  // namespace heddle::frontend
