#pragma once

#include <cstddef>

#include "heddle/dtype.h"

#include "ir/types/bits.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// The bits of `value` converted to `dtype`, for small values.
ElementBits constant_bits(DType dtype, double value);

/// Size in bytes of the accumulator of a reduction over elements of `dtype`, as defined in
/// ir/scalar/reduce.h. Throws InternalError if the op is not a reduction.
std::size_t reduction_state_bytes(Op reduction, DType dtype, bool segmented = false);

}  // namespace heddle::ir
