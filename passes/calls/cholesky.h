#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The call, with 0 in the triangle that LAPACK and cuSOLVER leave as it was, and NaN where a
/// matrix is not positive definite: elementwise, so that it fuses with what follows.
std::vector<ValueId> lower_cholesky(Graph& graph, const OldCall& call, const ir::Target& target);

/// n^3 / 3 a matrix; of complex numbers four times that. Of a symbolic n not counted.
Dim cholesky_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
