#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Decides, of a plan whose loops are laid over threads, what its single values and passes ask for:
/// Instruction::held and divisor, KernelPlan::walk_unroll and host_passes.
void decide_details(KernelPlan& plan, const ir::Target& target);

/// The passes of a plan over the elements of its stages, for a CPU.
std::vector<HostPass> host_passes(const KernelPlan& plan);

/// Whether a CPU looks for the reduction's place by integer keys (ir/scalar/reduce.h).
bool finds_place_by_key(const Reduction& reduction);

/// What each walk of a GPU's thread over elements computes, as instructions: a stage of rows or
/// columns; the elements that are scanned, then those that are stored. Of plans without inner loops
/// two equal ones, for any two iterations along `held_loop`.
std::vector<std::vector<int>> walk_roots(const KernelPlan& plan);

}  // namespace heddle::passes
