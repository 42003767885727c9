#pragma once

#include <cstdint>
#include <numbers>
#include <optional>

#include "heddle/array.h"

namespace heddle {

// Scans: element i of the result is what elements 0 .. i along an axis come to, in the shape of x.
// IndexError for an axis out of range. Sums of floats are made in a tree, so that their error grows
// with the logarithm of the length, and come out bitwise equal in every run.

/// numpy.cumsum, numpy.cumprod: of the flattened array when no axis is given. bool and small
/// integers accumulate in int64 or uint64, float16 and bfloat16 in float32, each result rounded;
/// with a dtype, x is cast to it first, and is added up in that. ValueError for several axes.
Array cumsum(const Operand& x, const Axes& axis = {}, std::optional<DType> dtype = std::nullopt);
Array cumprod(const Operand& x, const Axes& axis = {}, std::optional<DType> dtype = std::nullopt);
/// numpy.nancumsum, numpy.nancumprod: NaN counts as 0 or 1.
Array nancumsum(const Operand& x, const Axes& axis = {}, std::optional<DType> dtype = std::nullopt);
Array nancumprod(const Operand& x, const Axes& axis = {},
                 std::optional<DType> dtype = std::nullopt);
/// numpy.cumulative_sum, numpy.cumulative_prod, and the array API's: the only axis when none is
/// given. `include_initial` puts the 0 or 1 of no elements in front, so that the axis is one
/// longer. ValueError where x has several axes and none is given.
Array cumulative_sum(const Operand& x, const Axes& axis = {},
                     std::optional<DType> dtype = std::nullopt, bool include_initial = false);
Array cumulative_prod(const Operand& x, const Axes& axis = {},
                      std::optional<DType> dtype = std::nullopt, bool include_initial = false);
/// numpy.maximum.accumulate, numpy.minimum.accumulate, in x's dtype: NaN stays from where it is
/// met. IndexError for a 0-d array.
Array cummax(const Operand& x, std::int64_t axis = 0);
Array cummin(const Operand& x, std::int64_t axis = 0);
/// numpy.logaddexp.accumulate: log(cumsum(exp(x))) without overflow; integers in float64.
/// IndexError for a 0-d array, DTypeError for complex numbers.
Array logcumsumexp(const Operand& x, std::int64_t axis = 0);
/// numpy.unwrap: adds multiples of `period` so that neighbours along the axis differ by at most
/// half of it. Steps smaller than `discont`, by default and at least half a period, stay.
Array unwrap(const Operand& x, std::optional<double> discont = std::nullopt, std::int64_t axis = -1,
             const Operand& period = 2 * std::numbers::pi);

}  // namespace heddle
