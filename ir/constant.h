#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"

#include "ir/op.h"

namespace heddle::ir {

/// The bytes of a small number in `dtype`, low end first.
std::uint64_t constant_bits(DType dtype, double value);

/// Size in bytes of the state of a reduction over elements of `dtype`, as ir/scalar/reduce.h lays
/// it out. Throws InternalError for an op that is no reduction.
std::size_t reduction_state_bytes(Op reduction, DType dtype);

}  // namespace heddle::ir
