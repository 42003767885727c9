#pragma once

#include <string_view>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Arguments of a weighted quantile.
struct WeightedQuantile {
  std::string_view op;
  NodeRef x;      ///< real
  NodeRef q;      ///< floating, in [0, 1]
  Array weights;  ///< of x's shape, or of the axes' extents
  bool keepdims;
  bool skips_nan;  ///< NaN elements have weight 0
};

/// NumPy's method "inverted_cdf", the inverse of the distribution function. Shape: q's, then x's
/// without the axes. ShapeError for weights of another shape, AxisError.
Array weighted_quantile(const WeightedQuantile& asked, const Axes& axes,
                        const SourceLocation& site);

}  // namespace heddle::frontend
