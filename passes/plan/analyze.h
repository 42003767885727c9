#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Merges neighbouring loops that every address walks as one, drops none of their order.
void collapse_loops(KernelPlan& plan, IndexSpace& space);
/// Orders outer loops so that stores run through memory, as far as extents are known.
void order_loops(KernelPlan& plan);
/// Orders inner loops so that what they read most of runs through memory, where no result tells in
/// which order elements were combined. Call it before collapse_loops.
void order_inner_loops(KernelPlan& plan, const ir::Target& target);
/// Sets stages and levels: after which reductions a value can be known, and whether it belongs to
/// the inner loops.
void assign_stages(KernelPlan& plan);
/// The instructions that `roots` need, in order; with `element_only` those of the inner loops
/// alone. Those in `known`, and what only they need, are left out.
std::vector<int> needed(const KernelPlan& plan, const std::vector<int>& roots, bool element_only,
                        const std::vector<bool>& known = {});
/// 32 when every address and every loop provably fits, else 64.
int index_bits(const KernelPlan& plan);

/// Product of the loops' extents.
Dim iterations(const std::vector<Loop>& loops);
/// Coefficient of the last loop in an address when moving along it is all that changes; nothing
/// when it also stands inside a quotient or remainder.
std::optional<Dim> step_along(const KernelPlan& plan, const Index& address, const Loop& loop);
/// The same of what a load reads, whose address may also be made of values: those that do not
/// change along the loop leave the step as it is.
std::optional<Dim> step_along(const KernelPlan& plan, const Instruction& load, const Loop& loop);
/// The instructions whose values may differ between iterations of the loop.
std::vector<bool> varying_along(const KernelPlan& plan, const Loop& loop);
/// Widest power of two <= limit by which the access may be vectorised along `loop`: the address
/// moves by one element, and everything else in it is a multiple of the width.
int vector_width(const KernelPlan& plan, const KernelOperand& operand, const Index& address,
                 const Loop& loop, int limit);
/// The same of a load; 1 where it is guarded.
int vector_width(const KernelPlan& plan, const Instruction& load, const Loop& loop, int limit);
/// Name after the ops that are computed, the longest first, and the result's dtype.
std::string describe(const KernelPlan& plan);

}  // namespace heddle::passes
