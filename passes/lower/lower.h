#pragma once

#include <vector>

#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Facts about the whole program that a kernel's instructions depend on.
struct LowerContext {
  const Graph& graph;
  IndexSpace& space;
  std::vector<bool> stored;  ///< for each value: whether some group stores it
};

/// Lowers a group to scalar instructions over its loops. Views become index arithmetic. Adjacent
/// loops are merged if every address treats them as one loop. Loops are not yet mapped to threads.
KernelPlan lower(const LowerContext& context, const Group& group);

}  // namespace heddle::passes
