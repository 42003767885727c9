#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle {

// Negative indices count from the end. `mode` says how an index out of range is treated: "wrap" and
// "clip" are NumPy's; "raise" (NumPy's default) reads the nearest element and writes nothing.
// ValueError for another mode.

/// numpy.take: x's elements at `indices` (integers of any shape) along an axis, which the axes of
/// `indices` replace; without an axis, of the flattened x. IndexError for an axis out of range and
/// for elements of an empty axis, DTypeError for indices that are not integers.
Array take(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis = {},
           std::string_view mode = "raise");
/// numpy.take_along_axis: `indices` has x's rank and broadcasts with x along all other axes.
/// ShapeError if the ranks differ.
Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis = -1);
/// numpy.put: x.flat[indices] = values, in place. Values repeat as needed; for equal indices the
/// last value is kept. Without values nothing is written.
void put(Array& x, const Operand& indices, const Operand& values, std::string_view mode = "raise");
/// numpy.put_along_axis, in place. For equal indices the last value is kept.
void put_along_axis(Array& x, const Operand& indices, const Operand& values, std::int64_t axis);
// The sizes of the results below depend on the data. So these functions evaluate and wait, and
// throw TraceError inside a trace. In a trace, use functions that take a mask and keep its shape,
// such as where and sum.

/// numpy.nonzero: the indices where x is not 0, one i64[count] for each axis, in C order.
/// ShapeError for 0-d.
std::vector<Array> nonzero(const Operand& x);
/// numpy.flatnonzero: i64[count], the indices of the nonzero elements of the flattened x.
Array flatnonzero(const Operand& x);
/// numpy.argwhere: i64[count, x.ndim].
Array argwhere(const Operand& x);
/// numpy.compress: the slices of x along an axis where the condition (1-d, at most as long as the
/// axis) is true; without an axis, of the flattened x.
Array compress(const Operand& condition, const Operand& x, std::optional<std::int64_t> axis = {});
/// numpy.extract: the elements of the flattened x where the flattened condition is true.
Array extract(const Operand& condition, const Operand& x);
/// numpy.trim_zeros: x without the all-zero slices at the front ("f") and at the back ("b") of the
/// axes, by default of all. A view; empty if x is 0 everywhere. ValueError for another `trim`,
/// IndexError for an axis out of range.
Array trim_zeros(const Operand& x, std::string_view trim = "fb", const Axes& axes = {});
/// numpy.repeat with a count for each slice along the axis; without an axis, for each element of
/// the flattened x. ValueError for a negative count, ShapeError for counts that do not broadcast to
/// the axis.
Array repeat(const Operand& x, const Array& counts, std::optional<std::int64_t> axis = {});

}  // namespace heddle
