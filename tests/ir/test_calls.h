#pragma once

#include "ir/calls/calls.h"

namespace heddle::test {

/// Call ops that only tests have, registered at the first use.

/// (x) -> the smallest and the largest of each row, and whether `weight` is positive; has an
/// attribute of every type.
const ir::CallOp& extremes();
/// (x, ...) -> the region of the operands applied to them `times` times; its results are its next
/// operands.
const ir::CallOp& repeat();

}  // namespace heddle::test
