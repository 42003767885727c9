#pragma once

#include <span>

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// The result of an op on single numbers that are known, if it is known, too: then there is nothing
/// to record. That is so if every target gives the same result, and for elementwise functions of
/// float32 and float64 if the current device works in host memory: they are computed at once, with
/// the bits of its kernels. Null otherwise, and inside a trace.
NodeRef fold_numbers(ir::Op op, std::span<const NodeRef> operands,
                     const ir::Attributes& attributes);

}  // namespace heddle::frontend
