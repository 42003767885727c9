#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "ir/types/target.h"
#include "passes/groups/group.h"
#include "passes/lower/lower.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Groups that become one kernel of the items mapping: calls with an ItemCall, the elementwise
/// groups that make their operands, and those that use their results. The kernel runs when the last
/// of these groups would run.
struct ItemChain {
  std::vector<std::size_t> groups;  ///< indices into Grouping::groups, the last to run last
  KernelPlan plan;                  ///< scheduled
};

/// The chains of a program, by the index of the group that runs last. Every call with an ItemCall
/// is in one. A group is fused only if its elements of one item need no other item, and if nothing
/// between it and the end of the chain needs, or overwrites, what it reads or makes. Without
/// `fuse`, each chain is one call, which reads its operands from memory and stores its results.
std::unordered_map<std::size_t, ItemChain> item_chains(const LowerContext& context,
                                                       const Grouping& grouping,
                                                       const ir::Target& target, bool strict,
                                                       bool fuse);

}  // namespace heddle::passes
