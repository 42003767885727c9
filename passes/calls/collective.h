#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The step of a collective: the attributes, and as "elements" the number of elements of operand 0.
DescribedCall describe_collective(CallBuilder& builder);

}  // namespace heddle::passes
