#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The call, with NaN in the factors of matrices with NaN where the library may lose it.
std::vector<ValueId> lower_lu(Graph& graph, const OldCall& call, const ir::Target& target);
/// What lower_lu gives for matrices: factors, pivots and statuses.
std::vector<ValueId> lu_of(Graph& graph, ValueId matrices, ir::Location location,
                           const ir::Target& target);
/// The inverse, where the right-hand sides are the identity's and a lane computes it. Else the
/// call, with NaN in the solutions of singular matrices, and as lower_lu. Elementwise ops,
/// which fuse. Small matrices (matrix_item.h) need neither.
std::vector<ValueId> lower_solve(Graph& graph, const OldCall& call, const ir::Target& target);

/// m n k - (m + n) k^2 / 2 + k^3 / 3 multiplications and as many additions for each m by n matrix,
/// where k = min(m, n); four times that for complex numbers. 0 for symbolic extents.
Dim lu_flops(const Graph& graph, ValueId call);
/// The same, and 2 n^2 for each right-hand side.
Dim solve_flops(const Graph& graph, ValueId call);
/// Those of lu_flops, and 2 n^3.
Dim inverse_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
