#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.diff: differences of neighbours along an axis, n times; for bool, whether they differ.
/// `prepend` and `append`, if they hold a value, are first joined to x; a 0-d one gets extent 1
/// along the axis. ValueError for a negative n, ShapeError for a 0-d array.
Array diff(const Operand& x, std::int64_t n = 1, std::int64_t axis = -1, const Array& prepend = {},
           const Array& append = {});
/// numpy.ediff1d: differences of the flattened array, with `to_begin` before and `to_end` after
/// them. DTypeError if their kind does not fit the dtype of x.
Array ediff1d(const Operand& x, const Array& to_end = {}, const Array& to_begin = {});

/// Spacing of the samples along one axis: a number (possibly a 0-d array), or the coordinates.
struct Spacing {
  Scalar distance = 1.0;
  Array coordinates;  ///< used if it holds a value; a 0-d array is the distance
  Spacing() = default;
  // NOLINTBEGIN: gradient(x, {2.0}), trapezoid(y, x)
  template <class T>
    requires std::is_arithmetic_v<T>
  Spacing(T number) : distance(number) {}
  Spacing(Array places) : coordinates(std::move(places)) {}
  // NOLINTEND
};
/// numpy.gradient, one array for each axis (by default all). Second-order central differences; at
/// both ends one-sided differences of order `edge_order`, 1 or 2. Without spacings the distance is
/// 1; a single spacing applies to all axes. Integers are computed in float64. ValueError for too
/// few elements, another order, or a wrong number or length of spacings.
std::vector<Array> gradient(const Operand& x, const std::vector<Spacing>& spacings = {},
                            const Axes& axes = {}, int edge_order = 1);
/// numpy.trapezoid: the integral along an axis by the composite trapezoidal rule.
Array trapezoid(const Operand& y, const Spacing& spacing = {}, std::int64_t axis = -1);

}  // namespace heddle
