#pragma once

#include <string_view>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// What quantiles of weighted elements are asked for.
struct WeightedQuantile {
  std::string_view op;
  NodeRef x;      ///< real
  NodeRef q;      ///< floating, in [0, 1]
  Array weights;  ///< of x's shape, or of the axes' extents
  bool keepdims;
  bool skips_nan;  ///< elements that are NaN weigh nothing
};

/// By the inverse of the distribution, NumPy's method "inverted_cdf": of q's shape, then x's
/// without the axes. ShapeError for weights of another shape, AxisError.
Array weighted_quantile(const WeightedQuantile& asked, const Axes& axes,
                        const SourceLocation& site);

}  // namespace heddle::frontend
