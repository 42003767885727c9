#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.diff: differences of neighbours along an axis, n times, of bool whether they differ.
/// `prepend` and `append` are put before and behind first, where they hold a value; a 0-d one has
/// extent 1 along the axis. ValueError for a negative n, ShapeError for a 0-d array.
Array diff(const Operand& x, std::int64_t n = 1, std::int64_t axis = -1, const Array& prepend = {},
           const Array& append = {});
/// numpy.ediff1d: of the flattened array, with values before and behind the differences. DTypeError
/// where these are not of a kind that the dtype holds.
Array ediff1d(const Operand& x, const Array& to_end = {}, const Array& to_begin = {});

/// Distances along one axis: a number, also as a 0-d array, or the coordinates of the elements.
struct Spacing {
  Scalar distance = 1.0;
  Array coordinates;  ///< count where they hold a value; a 0-d one is the distance
  Spacing() = default;
  // NOLINTBEGIN: gradient(x, {2.0}), trapezoid(y, x)
  template <class T>
    requires std::is_arithmetic_v<T>
  Spacing(T number) : distance(number) {}
  Spacing(Array places) : coordinates(std::move(places)) {}
  // NOLINTEND
};
/// numpy.gradient, an array for each axis (all by default): central differences of second order,
/// at the ends one-sided of order `edge_order`, 1 or 2. No spacing is 1, one is for all axes.
/// Integers in float64. ValueError for too few elements, another order, or spacings that do not
/// fit.
std::vector<Array> gradient(const Operand& x, const std::vector<Spacing>& spacings = {},
                            const Axes& axes = {}, int edge_order = 1);
/// numpy.trapezoid: the integral along an axis by the composite trapezoidal rule.
Array trapezoid(const Operand& y, const Spacing& spacing = {}, std::int64_t axis = -1);

}  // namespace heddle
