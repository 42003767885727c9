#pragma once

#include <cstdint>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.polyval: the polynomial with these coefficients, the highest power's first, at x.
/// ShapeError unless they are a vector.
Array polyval(const Array& coefficients, const Operand& x);
/// numpy.convolve and numpy.correlate of vectors, in "full" length n + m - 1, the "same" as the
/// longer one, or where both overlap wholly ("valid"). Direct sums, one kernel. ShapeError for
/// other arrays, ValueError for empty ones and other modes.
Array convolve(const Operand& a, const Operand& v, std::string_view mode = "full");
Array correlate(const Operand& a, const Operand& v, std::string_view mode = "valid");
/// numpy.lib.stride_tricks.sliding_window_view along one axis: the windows' elements are a new last
/// axis. ValueError for a window longer than the axis.
Array sliding_window_view(const Operand& x, std::int64_t window, std::int64_t axis = -1);

}  // namespace heddle
