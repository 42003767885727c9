#pragma once

#include <string_view>

#include "heddle/array.h"

namespace heddle {

// Order statistics over `axes`, all by default; keepdims leaves them with extent 1. IndexError for
// an axis out of range, ValueError for one given twice. Where an axis holds a NaN the result is
// NaN; the nan-functions leave NaNs out, and give NaN where nothing else is.

/// numpy.median: the middle one, or the mean of the two, in order. Integers in float64.
Array median(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Array nanmedian(const Operand& x, const Axes& axes = {}, bool keepdims = false);

/// numpy.quantile: for each of q, in [0, 1], the value below which that share of x lies. The shape
/// is q's, then that of x without the axes. `method` is any of NumPy's: inverted_cdf,
/// averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, linear,
/// median_unbiased, normal_unbiased, lower, higher, midpoint, nearest. Integers are interpolated in
/// float64; methods that choose an element keep the dtype. ValueError for another method, and for a
/// scalar q out of range; elements of an array q are taken as the nearer end. IndexError for axes
/// without elements, DTypeError for complex x or q.
///
/// Weights, not negative, say how much each element counts: of x's shape, or of the axes' extents.
/// The result is then the first element at which the share of the weights reaches q, for which the
/// method has to be "inverted_cdf": ValueError for another, ShapeError for weights of another
/// shape. Rows of weights that are NaN, infinite or all 0, for which NumPy raises, give NaN or an
/// element.
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
