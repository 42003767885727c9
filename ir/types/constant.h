#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "heddle/dtype.h"

#include "ir/types/bits.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// The bits of `value` converted to `dtype`, for small values.
ElementBits constant_bits(DType dtype, double value);
/// The value of a constant that is an integer of at most 53 bits. nullopt for others, among them
/// -0.0, bools, and complex numbers with an imaginary part other than 0.
std::optional<std::int64_t> integer_of(DType dtype, const ElementBits& bits);

/// Size in bytes of the accumulator of a reduction over elements of `dtype`, as defined in
/// ir/scalar/reduce.h. Throws InternalError if the op is not a reduction.
std::size_t reduction_state_bytes(Op reduction, DType dtype, bool segmented = false);

}  // namespace heddle::ir
