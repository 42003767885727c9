#pragma once

#include <optional>
#include <utility>

#include "heddle/array.h"

namespace heddle {

/// numpy.average: the mean, weighted if `weights` holds a value. Weights have x's shape, or the
/// extents of the axes in their order. Integers are computed in float64. If the weights sum to 0,
/// for which NumPy raises, the result is inf or NaN. ShapeError for weights of another shape.
Array average(const Operand& x, const Axes& axes = {}, const Array& weights = {},
              bool keepdims = false);
/// numpy.average(returned=True): the average and the sum of the weights, in the same shape.
std::pair<Array, Array> average_returned(const Operand& x, const Axes& axes = {},
                                         const Array& weights = {}, bool keepdims = false);

/// Options of numpy.cov.
struct CovarianceOptions {
  Array y = {};                           ///< more variables, appended to those of x
  bool rowvar = true;                     ///< variables are rows, else columns
  bool bias = false;                      ///< divide by n, else by n - 1
  std::optional<std::int64_t> ddof = {};  ///< divide by n - ddof
  Array fweights = {};  ///< number of times that each observation counts, of an integer dtype
  Array aweights = {};  ///< weight of each observation
  std::optional<DType> dtype = {};
};
/// numpy.cov: the covariance matrix of variables in rows; 0-d for one variable. At least float64.
/// ShapeError for more than two axes or weights of another shape, DTypeError for fweights that are
/// not integers. ValueError for negative weights, if they are computed and in host memory.
Array cov(const Operand& x, const CovarianceOptions& options = {});
/// numpy.corrcoef: covariances divided by the standard deviations, in [-1, 1].
Array corrcoef(const Operand& x, const Array& y = {}, bool rowvar = true,
               std::optional<DType> dtype = {});

}  // namespace heddle
