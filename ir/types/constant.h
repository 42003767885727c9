#pragma once

#include <cstddef>

#include "heddle/dtype.h"

#include "ir/types/bits.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// A small number in `dtype`.
ElementBits constant_bits(DType dtype, double value);

/// Size in bytes of the state of a reduction over elements of `dtype`, as ir/scalar/reduce.h lays
/// it out. Throws InternalError for an op that is no reduction.
std::size_t reduction_state_bytes(Op reduction, DType dtype, bool segmented = false);

}  // namespace heddle::ir
