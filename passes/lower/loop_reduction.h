#pragma once

#include <vector>

#include "ir/graph/graph.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Appends a reduction or scan over the kernel's loops to its body. `values` are the instructions
/// of the node's operands. 64-bit integers are summed in 32 bits where these provably hold the sum.
/// Returns the instruction that has the result.
int add_loop_reduction(KernelPlan& plan, const ir::Graph& graph, ValueId node,
                       const std::vector<int>& values);

}  // namespace heddle::passes
