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

/// numpy.linspace in a dtype: computed in float64, integers rounded down. ValueError for a negative
/// count.
Array linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, DType dtype,
               SourceLocation where = SourceLocation::current());
/// numpy.logspace: powers of the base, their exponents as linspace.
Array logspace(Scalar start, Scalar stop, std::int64_t count = 50, bool endpoint = true,
               double base = 10.0, DType dtype = DType::f64,
               SourceLocation where = SourceLocation::current());
/// numpy.geomspace: evenly spaced in their logarithms, start and stop themselves exact. ValueError
/// for a start or stop of 0.
Array geomspace(Scalar start, Scalar stop, std::int64_t count = 50, bool endpoint = true,
                DType dtype = DType::f64, SourceLocation where = SourceLocation::current());

// Between arrays, or numbers among them, which broadcast: the values are along a new axis of the
// result. Without a dtype it is the common one, float64 for integers. AxisError for an axis out of
// range.

/// numpy.linspace(start, stop, count, endpoint, dtype, axis).
Array linspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
               std::optional<DType> dtype, std::int64_t axis);
/// numpy.logspace: the base broadcasts, too.
Array logspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
               const Operand& base, std::optional<DType> dtype, std::int64_t axis);
/// numpy.geomspace. ValueError for a number of 0; elements of an array that are 0, for which NumPy
/// raises, give what the logarithm of 0 does.
Array geomspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
                std::optional<DType> dtype, std::int64_t axis);

/// numpy.meshgrid: arrays of coordinates from vectors. `indexing` "xy" puts the first along the
/// second axis, "ij" along the first; sparse ones have extent 1 along the others. ValueError for
/// another indexing, ShapeError for arrays of more than one axis.
std::vector<Array> meshgrid(Arrays vectors, std::string_view indexing = "xy", bool sparse = false,
                            SourceLocation where = SourceLocation::current());
/// numpy.indices: the indices along each axis of an array of the shape, stacked.
Array indices(const Shape& shape, DType dtype = DType::i64,
              SourceLocation where = SourceLocation::current());
/// numpy.indices(sparse=True): as they are, with extent 1 along the other axes.
std::vector<Array> sparse_indices(const Shape& shape, DType dtype = DType::i64,
                                  SourceLocation where = SourceLocation::current());

/// numpy.fromfunction: what the function makes of a span of arrays, the indices along each axis.
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
