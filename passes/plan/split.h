#pragma once

#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

struct SplitPlans {
  KernelPlan parts;    ///< reduces a part of the inner loops in each block, and stores the states
  KernelPlan combine;  ///< combines the states of all parts, and computes the rest
};

/// Splits a plan with split > 1 into two kernels. `partials[i]` is the scratch buffer of reduction
/// i, with states in the order [part][outer iteration]. For a scan, both kernels combine elements
/// in the same tree, because float sums are less accurate in any other order.
SplitPlans split_plan(const KernelPlan& plan, IndexSpace& space, const std::vector<int>& partials,
                      const ir::Target& target);

/// Removes instructions and operands that no store and no reduction needs.
void prune(KernelPlan& plan, IndexSpace& space);

}  // namespace heddle::passes
