#pragma once

#include "passes/calls/lowering.h"
#include "passes/plan/sort.h"

namespace heddle::passes {

/// Over one element there is nothing to sort. Other sorts run along the last axis, but for axes of
/// 1, of what they are given.
std::vector<ValueId> lower_sort(Graph& graph, const OldCall& call, const ir::Target& target);

/// The step of such a sort.
DescribedCall describe_sort(CallBuilder& builder);

}  // namespace heddle::passes
