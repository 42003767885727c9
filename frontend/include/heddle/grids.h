#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/array.h"
#include "heddle/creation.h"
#include "heddle/manipulation.h"

namespace heddle {

/// numpy.linspace with a dtype: computed in float64; integer dtypes round down. ValueError for a
/// negative count.
Array linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, DType dtype,
               SourceLocation where = SourceLocation::current());
/// numpy.logspace: powers of `base`, with exponents spaced as in linspace.
Array logspace(Scalar start, Scalar stop, std::int64_t count = 50, bool endpoint = true,
               double base = 10.0, DType dtype = DType::f64,
               SourceLocation where = SourceLocation::current());
/// numpy.geomspace: values with evenly spaced logarithms; start and stop are exact. ValueError if
/// start or stop is 0.
Array geomspace(Scalar start, Scalar stop, std::int64_t count = 50, bool endpoint = true,
                DType dtype = DType::f64, SourceLocation where = SourceLocation::current());

// The functions below take arrays or numbers, which broadcast. The values run along a new axis of
// the result. Without `dtype` it is the common dtype, or float64 for integers. AxisError for an
// axis out of range.

/// numpy.linspace(start, stop, count, endpoint, dtype, axis).
Array linspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
               std::optional<DType> dtype, std::int64_t axis);
/// numpy.logspace. `base` broadcasts, too.
Array logspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
               const Operand& base, std::optional<DType> dtype, std::int64_t axis);
/// numpy.geomspace. ValueError for a scalar 0. For an array element of 0, for which NumPy raises,
/// the result is that of log(0).
Array geomspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
                std::optional<DType> dtype, std::int64_t axis);

/// numpy.meshgrid: coordinate arrays from 1-d arrays. With `indexing` "xy" the first array runs
/// along the second axis, with "ij" along the first. With `sparse` the other axes have extent 1.
/// ValueError for another indexing, ShapeError for arrays of more than one axis.
std::vector<Array> meshgrid(Arrays vectors, std::string_view indexing = "xy", bool sparse = false,
                            SourceLocation where = SourceLocation::current());
/// numpy.indices: the indices along each axis of an array of the shape, stacked.
Array indices(const Shape& shape, DType dtype = DType::i64,
              SourceLocation where = SourceLocation::current());
/// numpy.indices(sparse=True): not stacked, with extent 1 along the other axes.
std::vector<Array> sparse_indices(const Shape& shape, DType dtype = DType::i64,
                                  SourceLocation where = SourceLocation::current());

/// numpy.fromfunction: calls the function with a span of index arrays, one for each axis.
template <class Function>
Array fromfunction(Function function, const Shape& shape, DType dtype = DType::f64,
                   SourceLocation where = SourceLocation::current()) {
  std::vector<Array> places;
  for (const Array& places_along : sparse_indices(shape, dtype, where)) {
    places.push_back(broadcast_to({places_along, where}, shape));
  }
  return function(std::span<const Array>(places));
}

}  // namespace heddle
