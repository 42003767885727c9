#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The call as it is for small matrices (matrix_item.h). Else LU factors, and reductions
/// of their diagonals and pivots, which fuse with later ops.
std::vector<ValueId> lower_slogdet(Graph& graph, const OldCall& call, const ir::Target& target);

}  // namespace heddle::passes
