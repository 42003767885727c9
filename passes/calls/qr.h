#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

// Floating-point operations as LAPACK counts them, 0 for symbolic extents; four times as many for
// complex numbers.

Dim geqrf_flops(const Graph& graph, ValueId call);
Dim householder_product_flops(const Graph& graph, ValueId call);
Dim solve_triangular_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
