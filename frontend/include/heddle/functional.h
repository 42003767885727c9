#pragma once

#include <cstdint>
#include <functional>

#include "heddle/array.h"

namespace heddle {

/// numpy.apply_along_axis: what the function makes of each line of x along an axis, in the place of
/// that axis. The function gets a 1-d array, and is called once: what it records is then recorded
/// of all lines together, so that it fuses with what is around it: what else it does, such as
/// asking another library for a number, happens once. Where that cannot be, because it
/// asks for values, assigns to arrays from outside, draws random numbers or searches in its
/// argument, it is called for each line too, as NumPy does; its results then need one shape,
/// and take the first one's dtype. IndexError for an axis out of range, ValueError where there are
/// no lines.
Array apply_along_axis(const std::function<Array(const Array&)>& function, std::int64_t axis,
                       const Operand& x);

}  // namespace heddle
