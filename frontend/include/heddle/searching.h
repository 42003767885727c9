#pragma once

#include <optional>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.searchsorted: int64, in the shape of `values`: where each would go into `sorted`, which
/// has one axis and is in the order of sort(), before its equals for side "left", behind them for
/// "right". With a `sorter` that holds a value, `sorted` is in order as sorter says. Dtypes
/// promote. ShapeError unless sorted has one axis, and the sorter its shape; ValueError for another
/// side.
Array searchsorted(const Operand& sorted, const Operand& values, std::string_view side = "left",
                   const Array& sorter = {});
/// numpy.digitize: the number of the bin that each element falls into, bins[i - 1] <= x < bins[i],
/// or, `right`, bins[i - 1] < x <= bins[i]; turned around for bins that fall. ValueError for
/// bins that do neither, where they are computed and in host memory; for others the result has no
/// meaning. ShapeError unless bins has one axis, DTypeError for complex numbers.
Array digitize(const Operand& x, const Operand& bins, bool right = false);
/// numpy.interp: where x lies between places, which rise, the value on the line between the values
/// there; in front of them `left`, by default the first value, behind them `right`, by default the
/// last. In float64, or complex128 for complex values. ShapeError unless places and values are 1-d
/// and of one length, ValueError where they are empty, DTypeError for complex x or places. With a
/// period, of which ValueError if it is 0, x and the places, in any order, are taken modulo it, and
/// nothing is outside.
Array interp(const Operand& x, const Operand& places, const Operand& values,
             std::optional<Scalar> left = {}, std::optional<Scalar> right = {},
             std::optional<double> period = {});

}  // namespace heddle
