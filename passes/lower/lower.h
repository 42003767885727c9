#pragma once

#include <vector>

#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Facts about the whole program that a kernel's body depends on.
struct LowerContext {
  const Graph& graph;
  IndexSpace& space;
  std::vector<bool> stored;  ///< per value: some group stores it
};

/// Spells a group's nodes out as scalar instructions over its loops, views resolved into addresses,
/// neighbouring loops that every address walks as one merged. Loops are not yet laid over threads.
KernelPlan lower(const LowerContext& context, const Group& group);

}  // namespace heddle::passes
