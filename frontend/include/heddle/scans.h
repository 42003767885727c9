#pragma once

#include <cstdint>
#include <numbers>
#include <optional>

#include "heddle/array.h"

namespace heddle {

// Scans: element i of the result combines elements 0 .. i along an axis; the shape is x's.
// IndexError for an axis out of range. Sums of floats are computed in a tree: the error grows with
// the logarithm of the length, and the result is bitwise the same in every run.

/// numpy.cumsum, numpy.cumprod; without an axis, of the flattened array. bool and small integers
/// accumulate in int64 or uint64; float16 and bfloat16 in float32, with each result rounded. With
/// `dtype`, x is cast first and accumulates in that dtype. ValueError for several axes.
Array cumsum(const Operand& x, const Axes& axis = {}, std::optional<DType> dtype = std::nullopt);
Array cumprod(const Operand& x, const Axes& axis = {}, std::optional<DType> dtype = std::nullopt);
/// numpy.nancumsum, numpy.nancumprod: NaN counts as 0 or 1.
Array nancumsum(const Operand& x, const Axes& axis = {}, std::optional<DType> dtype = std::nullopt);
Array nancumprod(const Operand& x, const Axes& axis = {},
                 std::optional<DType> dtype = std::nullopt);
/// numpy.cumulative_sum, numpy.cumulative_prod (array API). The axis may be absent if x is 1-d.
/// `include_initial` prepends the 0 or 1 of an empty sum or product, so the axis is one longer.
/// ValueError if x has several axes and none is given.
Array cumulative_sum(const Operand& x, const Axes& axis = {},
                     std::optional<DType> dtype = std::nullopt, bool include_initial = false);
Array cumulative_prod(const Operand& x, const Axes& axis = {},
                      std::optional<DType> dtype = std::nullopt, bool include_initial = false);
/// numpy.maximum.accumulate, numpy.minimum.accumulate, in x's dtype. A NaN makes all later elements
/// NaN. IndexError for a 0-d array.
Array cummax(const Operand& x, std::int64_t axis = 0);
Array cummin(const Operand& x, std::int64_t axis = 0);
/// numpy.logaddexp.accumulate: log(cumsum(exp(x))) without overflow; integers are computed in
/// float64. IndexError for a 0-d array, DTypeError for complex numbers.
Array logcumsumexp(const Operand& x, std::int64_t axis = 0);
/// numpy.unwrap: adds multiples of `period` so that neighbours along the axis differ by at most
/// half of it. Steps smaller than `discont` (at least and by default half a period) are kept.
Array unwrap(const Operand& x, std::optional<double> discont = std::nullopt, std::int64_t axis = -1,
             const Operand& period = 2 * std::numbers::pi);

}  // namespace heddle
