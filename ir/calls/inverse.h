#pragma once

#include "ir/types/call.h"

namespace heddle::ir::calls {

/// numpy.linalg.inv of a stack of matrices, and a status of each, as solve() gives it. Only
/// lowering makes it, of a solve() whose right-hand sides are those of the identity.
const CallOp& inverse();

}  // namespace heddle::ir::calls
