#pragma once

#include "passes/calls/lowering.h"
#include "passes/plan/sort.h"

namespace heddle::passes {

/// A sort over one element returns its operand. Other sorts are rewritten to sort along the last
/// axis, not counting trailing axes of extent 1.
std::vector<ValueId> lower_sort(Graph& graph, const OldCall& call, const ir::Target& target);

/// The step of a sort that lower_sort has rewritten.
DescribedCall describe_sort(CallBuilder& builder);

}  // namespace heddle::passes
