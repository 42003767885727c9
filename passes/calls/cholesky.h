#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The call, with 0 in the triangle that LAPACK and cuSOLVER leave unchanged, and NaN in factors of
/// matrices that are not positive definite. Both are elementwise ops, so they fuse with later ops.
/// Small matrices (matrix_item.h) need neither.
std::vector<ValueId> lower_cholesky(Graph& graph, const OldCall& call, const ir::Target& target);

/// n^3 / 3 for each matrix; four times that for complex numbers. 0 if n is symbolic.
Dim cholesky_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
