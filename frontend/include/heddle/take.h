#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle {

// Negative indices count from the end. What one outside of its axis does is the mode: "raise",
// which is NumPy's default, here reads the nearest element and writes nothing; "wrap" and "clip"
// are NumPy's. ValueError for another mode.

/// numpy.take: x's elements at `indices` (integers of any shape) along an axis, whose place the
/// axes of `indices` take; of the flattened x without an axis. IndexError for an axis out of range
/// and for elements of an empty axis, DTypeError for indices that are no integers.
Array take(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis = {},
           std::string_view mode = "raise");
/// numpy.take_along_axis: `indices` has x's rank, and broadcasts with it along all other axes.
/// ShapeError where the ranks differ.
Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis = -1);
/// numpy.put: x.flat[indices] = values, in place; values repeat as often as needed, the last of
/// equal indices stays. Without values nothing is written.
void put(Array& x, const Operand& indices, const Operand& values, std::string_view mode = "raise");
/// numpy.put_along_axis, in place; the last of equal indices stays.
void put_along_axis(Array& x, const Operand& indices, const Operand& values, std::int64_t axis);
// What follows gives arrays whose size depends on the data: it evaluates and waits, and throws
// TraceError inside a trace. Other functions there take a mask and keep its shape: where, sum.

/// numpy.nonzero: for each axis, where x is not 0, as i64[count] in C order. ShapeError for 0-d.
std::vector<Array> nonzero(const Operand& x);
/// numpy.flatnonzero: i64[count], of the flattened x.
Array flatnonzero(const Operand& x);
/// numpy.argwhere: i64[count, x.ndim].
Array argwhere(const Operand& x);
/// numpy.compress: the slices of x along an axis whose condition (1-d, at most as long as the axis)
/// holds; of the flattened x without an axis.
Array compress(const Operand& condition, const Operand& x, std::optional<std::int64_t> axis = {});
/// numpy.extract: the elements of the flattened x where the flattened condition holds.
Array extract(const Operand& condition, const Operand& x);
/// numpy.trim_zeros: x without the slices that are all 0 at the front ("f") and at the back ("b")
/// of the axes, of all by default. A view; none of it where x is 0 everywhere. ValueError for
/// another `trim`, IndexError for an axis out of range.
Array trim_zeros(const Operand& x, std::string_view trim = "fb", const Axes& axes = {});
/// numpy.repeat with a count for each slice along the axis; of the flattened x without an axis.
/// ValueError for a negative count, ShapeError for counts that do not broadcast to the axis.
Array repeat(const Operand& x, const Array& counts, std::optional<std::int64_t> axis = {});

}  // namespace heddle
