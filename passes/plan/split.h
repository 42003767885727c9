#pragma once

#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

struct SplitPlans {
  KernelPlan parts;    ///< walks a part of the inner loops a block, and leaves states
  KernelPlan combine;  ///< combines the states of all parts, and computes what follows
};

/// Cuts a plan with split > 1 in two. `partials[i]` names the scratch of reduction i, laid out as
/// states [part][outer iteration]. Of a plan that scans, both go through all elements in the same
/// tree, for sums of floats are as accurate in no other order.
SplitPlans split_plan(const KernelPlan& plan, IndexSpace& space, const std::vector<int>& partials,
                      const ir::Target& target);

/// Drops instructions and operands that no store and no reduction needs.
void prune(KernelPlan& plan, IndexSpace& space);

}  // namespace heddle::passes
