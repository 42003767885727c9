#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Decides details of a plan whose loops are already mapped to threads: Instruction::held and
/// divisor, KernelPlan::pass_unroll and host_passes.
void decide_details(KernelPlan& plan, const ir::Target& target);

/// The passes of a CPU thread over elements, ordered by stage.
std::vector<HostPass> host_passes(const KernelPlan& plan);

/// Whether a CPU computes argmin or argmax by comparing integer keys (ir/scalar/reduce.h).
bool finds_index_by_key(const Reduction& reduction);

/// For each pass of a GPU thread over elements, the instructions whose values the pass needs. Rows
/// and columns have one pass per stage. Scans have two: one for the scanned elements, one for the
/// stored ones. A plan without inner loops gets two equal entries, which stand for two iterations
/// of `held_loop`.
std::vector<std::vector<int>> pass_roots(const KernelPlan& plan);

}  // namespace heddle::passes
