#pragma once

#include <cstdint>
#include <random>

#include "ir/graph/graph.h"
#include "ir/types/op.h"

namespace heddle::test {

/// Values to test operand `operand` of an op of `domain` with (ir/types/op.h, Domain). The first
/// 256 hold every pair of what is special to the dtype for operands 0 and 1, the others are random
/// over all magnitudes. Equal seeds give equal values.
ir::HostArray sample(ir::Domain domain, int operand, DType dtype, const ir::Shape& shape,
                     std::uint64_t seed);

struct Range {
  double low;
  double high;
};
/// The ends are in; a function that is not defined at one has it a little inside. For `any` and
/// other free operands, what is moderate.
Range range_of(ir::Domain domain, int operand, DType dtype);

/// Random values of moderate size, without NaNs and infinities: what programs mostly see.
ir::HostArray moderate_sample(DType dtype, const ir::Shape& shape, std::uint64_t seed);

}  // namespace heddle::test
