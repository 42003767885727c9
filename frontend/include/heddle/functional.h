#pragma once

#include <cstdint>
#include <functional>

#include "heddle/array.h"

namespace heddle {

/// numpy.apply_along_axis: applies the function to each 1-d slice of x along an axis. The axes of
/// the function's result replace that axis.
///
/// The function is called once, with a 1-d array. Its recorded ops are then vectorised over all
/// slices, so that they fuse with the surrounding ops. Its other side effects happen once. If the
/// ops cannot be vectorised, because the function reads values, assigns to captured arrays, draws
/// random numbers or may fail, it is also called once for each slice, as in NumPy. vmap() does so
/// for functions of several arguments of any shape, and never calls them more than once.
/// The results must then have one shape, and take the dtype of the first. IndexError for an axis
/// out of range, ValueError if there are no slices.
Array apply_along_axis(const std::function<Array(const Array&)>& function, std::int64_t axis,
                       const Operand& x);

}  // namespace heddle
