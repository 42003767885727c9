#pragma once

#include <string_view>

#include "heddle/array.h"

namespace heddle {

// Order statistics over `axes`, by default all; keepdims keeps them with extent 1. IndexError for
// an axis out of range, ValueError for a repeated axis. If a slice contains a NaN, its result is
// NaN. The nan-functions ignore NaNs, and return NaN if all elements are NaN.

/// numpy.median: the middle element in sorted order, or the mean of the two middle elements.
/// Integers are computed in float64.
Array median(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Array nanmedian(const Operand& x, const Axes& axes = {}, bool keepdims = false);

/// numpy.quantile: for each q in [0, 1], the value below which that share of x lies. The shape is
/// q's, then that of x without the axes. `method` is any of NumPy's: inverted_cdf,
/// averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, linear,
/// median_unbiased, normal_unbiased, lower, higher, midpoint, nearest. Integers are interpolated in
/// float64; methods that choose an element keep the dtype. ValueError for another method, and for a
/// scalar q out of range; an array element of q out of range is clipped. IndexError for axes
/// without elements, DTypeError for complex x or q.
///
/// Weights >= 0 say how much each element counts. They have x's shape, or the extents of the axes.
/// The result is then the first element at which the cumulative share of the weights reaches q.
/// `method` must be "inverted_cdf": ValueError for another; ShapeError for weights of another
/// shape. Weights that are NaN, infinite or all 0, for which NumPy raises, give NaN or any element.
Array quantile(const Operand& x, const Operand& q, const Axes& axes = {},
               std::string_view method = "linear", bool keepdims = false,
               const Array& weights = {});
Array nanquantile(const Operand& x, const Operand& q, const Axes& axes = {},
                  std::string_view method = "linear", bool keepdims = false,
                  const Array& weights = {});
/// numpy.percentile: quantile of q / 100.
Array percentile(const Operand& x, const Operand& q, const Axes& axes = {},
                 std::string_view method = "linear", bool keepdims = false,
                 const Array& weights = {});
Array nanpercentile(const Operand& x, const Operand& q, const Axes& axes = {},
                    std::string_view method = "linear", bool keepdims = false,
                    const Array& weights = {});

}  // namespace heddle
