#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heddle/dtype.h"

#include "ir/types/bits.h"

namespace heddle::ir {

/// The value with these bits in `dtype`, in the text form: true or false; decimal integers; floats
/// with the fewest digits that read back to the same bits; inf; nan; NaNs with other bits as
/// hexadecimal bits, 0x7fc00001; complex numbers as both parts, (1.0,-0.5).
std::string literal_text(DType dtype, ElementBits bits);
/// Inverse of literal_text; nullopt if the text is not a value of `dtype` or is out of range.
std::optional<ElementBits> parse_literal(DType dtype, std::string_view text);

}  // namespace heddle::ir
