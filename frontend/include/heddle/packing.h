#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.packbits: packs eight elements along an axis into the bits of a uint8; without an axis, of
/// the flattened array. A bit is set if the element is not 0. The first element is the highest bit
/// with `bitorder` "big", the lowest with "little". Missing elements at the end are 0 bits. A 0-d
/// array is treated as 1-d. DTypeError unless x is of integers or bools, ValueError for another
/// order, IndexError for an axis out of range.
Array packbits(const Operand& x, std::optional<std::int64_t> axis = {},
               std::string_view bitorder = "big");
/// numpy.unpackbits: unpacks the bits of each uint8 along an axis into uint8 values 0 and 1;
/// without an axis, of the flattened array. The result has `count` elements, padded with zeros; a
/// negative count drops the last -count bits. A 0-d array is treated as 1-d. DTypeError unless x is
/// uint8, ValueError for another order and for a negative count beyond the number of bits,
/// IndexError for an axis out of range.
Array unpackbits(const Operand& x, std::optional<std::int64_t> axis = {},
                 std::optional<std::int64_t> count = {}, std::string_view bitorder = "big");

}  // namespace heddle
