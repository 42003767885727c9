#pragma once

#include <cstdint>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.polyval: the polynomial with these coefficients, highest power first, at x. ShapeError
/// unless `coefficients` is 1-d.
Array polyval(const Array& coefficients, const Operand& x);
/// numpy.convolve and numpy.correlate of 1-d arrays. `mode` "full" has length n + m - 1, "same" the
/// length of the longer array, and "valid" only complete overlaps. Computed as direct sums in one
/// kernel. ShapeError unless both are 1-d, ValueError for empty arrays and other modes.
Array convolve(const Operand& a, const Operand& v, std::string_view mode = "full");
Array correlate(const Operand& a, const Operand& v, std::string_view mode = "valid");
/// numpy.lib.stride_tricks.sliding_window_view along one axis. The elements of a window run along a
/// new last axis. ValueError for a window longer than the axis.
Array sliding_window_view(const Operand& x, std::int64_t window, std::int64_t axis = -1);

}  // namespace heddle
