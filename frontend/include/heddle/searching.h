#pragma once

#include <optional>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.searchsorted: int64, in the shape of `values`: the index at which each value would be
/// inserted into the 1-d `sorted`, which is in the order of sort(). Side "left" inserts before
/// equal elements, "right" after them. If `sorter` holds a value, it is the permutation that sorts
/// `sorted`. Dtypes promote. ShapeError unless `sorted` is 1-d and `sorter` has its shape;
/// ValueError for another side.
Array searchsorted(const Operand& sorted, const Operand& values, std::string_view side = "left",
                   const Array& sorter = {});
/// numpy.digitize: the number of each element's bin: bins[i - 1] <= x < bins[i], or with `right`
/// bins[i - 1] < x <= bins[i]; for decreasing bins the reverse. Bins must be monotonic: ValueError
/// if they are not, but this is checked only for bins that are computed and in host memory;
/// otherwise the result is meaningless. ShapeError unless bins is 1-d, DTypeError for complex
/// numbers.
Array digitize(const Operand& x, const Operand& bins, bool right = false);
/// numpy.interp: piecewise linear interpolation through the points (places, values), where `places`
/// increase. Below the first place the result is `left`, by default the first value; above the last
/// it is `right`, by default the last value. Computed in float64, or complex128 for complex values.
/// ShapeError unless places and values are 1-d and of one length, ValueError if they are empty,
/// DTypeError for complex x or places. With `period`, x and places, in any order, are taken modulo
/// it, and `left` and `right` have no effect; ValueError if it is 0.
Array interp(const Operand& x, const Operand& places, const Operand& values,
             std::optional<Scalar> left = {}, std::optional<Scalar> right = {},
             std::optional<double> period = {});

}  // namespace heddle
