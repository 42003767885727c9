#pragma once

#include <optional>
#include <utility>

#include "heddle/array.h"

namespace heddle {

/// numpy.average: the mean, weighted where weights hold a value. They have the shape of x, or that
/// of the axes, in their order. Integers in float64; the quotient by weights that sum to 0, for
/// which NumPy throws, is inf or NaN. ShapeError for weights of another shape.
Array average(const Operand& x, const Axes& axes = {}, const Array& weights = {},
              bool keepdims = false);
/// numpy.average(returned=True): with the sum of the weights, in the shape of the average.
std::pair<Array, Array> average_returned(const Operand& x, const Axes& axes = {},
                                         const Array& weights = {}, bool keepdims = false);

/// What numpy.cov takes besides the observations.
struct CovarianceOptions {
  Array y = {};                           ///< more variables, below those of x
  bool rowvar = true;                     ///< variables are rows, not columns
  bool bias = false;                      ///< divide by n, not n - 1
  std::optional<std::int64_t> ddof = {};  ///< divide by n - ddof
  Array fweights = {};  ///< how often each observation counts, of an integer dtype
  Array aweights = {};  ///< how much each observation weighs
  std::optional<DType> dtype = {};
};
/// numpy.cov: the covariance matrix of variables in rows; 0-d for one variable. float64 at least.
/// ShapeError for more than two axes or weights that do not fit, DTypeError for frequencies that
/// are no integers.
Array cov(const Operand& x, const CovarianceOptions& options = {});
/// numpy.corrcoef: covariances divided by the standard deviations, in [-1, 1].
Array corrcoef(const Operand& x, const Array& y = {}, bool rowvar = true,
               std::optional<DType> dtype = {});

}  // namespace heddle
