#pragma once

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// Products of a stack of small matrices become matrix products and triangular systems where the
/// library computes stacks of those in one call (ir::Capabilities::stacked_systems). Other calls
/// stay as they are.
std::vector<ValueId> lower_householder_product(Graph& graph, const OldCall& call,
                                               const ir::Target& target);

// Floating-point operations as LAPACK counts them, 0 for symbolic extents; four times as many for
// complex numbers.

Dim geqrf_flops(const Graph& graph, ValueId call);
Dim householder_product_flops(const Graph& graph, ValueId call);
Dim solve_triangular_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
