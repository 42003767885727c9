#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.packbits: eight elements along an axis, of the flattened array without one, as the bits of
/// an uint8: set where an element is not 0, the first of them the highest bit in `bitorder` "big",
/// the lowest in "little", and 0 behind the last element. A 0-d array counts as a vector.
/// DTypeError unless x is of integers or bools, ValueError for another order, IndexError for an
/// axis out of range.
Array packbits(const Operand& x, std::optional<std::int64_t> axis = {},
               std::string_view bitorder = "big");
/// numpy.unpackbits: the bits of each uint8 along an axis, of the flattened array without one, as
/// uint8 of 0 and 1: `count` of them, with zeros where there are fewer, or for a negative count all
/// but the last -count. A 0-d array counts as a vector. DTypeError unless x is uint8, ValueError
/// for another order and for a negative count beyond all bits, IndexError for an axis out of range.
Array unpackbits(const Operand& x, std::optional<std::int64_t> axis = {},
                 std::optional<std::int64_t> count = {}, std::string_view bitorder = "big");

}  // namespace heddle
