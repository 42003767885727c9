#pragma once

#include <vector>

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The arrays that the kernel of ir::calls::attention() reads: below views whose rows are
/// contiguous in memory and aligned to 16 bytes.
std::vector<ValueId> attention_reads(const Graph& graph, ValueId call, const CallTarget& target);
/// One block for each 128 queries (codegen/device/attention.h).
KernelPlan attention_kernel(const Graph& graph, ValueId call, IndexSpace& space,
                            const LowerGroup& lower);

}  // namespace heddle::passes
