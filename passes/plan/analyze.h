#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Merges neighbouring loops that every address treats as one loop. Keeps the order of loops.
void collapse_loops(KernelPlan& plan, IndexSpace& space);
/// Orders outer loops so that stores are contiguous in memory, as far as extents are known.
void order_loops(KernelPlan& plan);
/// Orders inner loops so that the largest load is contiguous in memory. Does nothing if a result
/// depends on the order in which elements are combined. Call it before collapse_loops.
void order_inner_loops(KernelPlan& plan, const ir::Target& target);
/// Sets, for each instruction, the stage (the reductions that must be finished before it) and the
/// level (whether it depends on the inner loops).
void assign_stages(KernelPlan& plan);
/// The instructions that `roots` depend on, in order; with `element_only`, only those inside the
/// inner loops. Instructions in `known` are left out, and so are those that only they depend on.
std::vector<int> needed(const KernelPlan& plan, const std::vector<int>& roots, bool element_only,
                        const std::vector<bool>& known = {});
/// 32 if every address and every loop provably fits, else 64.
int index_bits(const KernelPlan& plan);

/// How often an element computes the instruction: the product of the lengths of the element loops
/// around it. `unknown`: the number of steps of a loop with a condition.
Dim steps_around(const KernelPlan& plan, const Instruction& instruction, Dim unknown);

/// Whether element loops load or store elements in their steps.
bool walks_memory(const KernelPlan& plan);

/// Product of the loops' extents.
Dim iterations(const std::vector<Loop>& loops);
/// A reduction of the kernel, if its rows are segments; else null.
const Reduction* segmented(const KernelPlan& plan);
/// The outer loops that choose the segment of a row; empty if rows are not segments.
std::vector<Loop> segment_loops(const KernelPlan& plan);
/// Whether rows are segments, and each begins where the one of the row before it ends: both bounds
/// are read from one array, as in a sparse matrix.
bool follows_segment(const KernelPlan& plan);
/// The number of elements of a row; if rows are segments, about their mean.
Dim row_length(const KernelPlan& plan);
/// The number of elements of all rows.
Dim elements_of(const KernelPlan& plan);
/// The stride of an address along the loop. nullopt if the loop also occurs inside a quotient or
/// remainder.
std::optional<Dim> step_along(const KernelPlan& plan, const Index& address, const Loop& loop);
/// As above, for a load, whose address may contain values. Values that do not change along the loop
/// do not affect the stride, nor does a guard.
std::optional<Dim> step_along(const KernelPlan& plan, const Instruction& load, const Loop& loop);
/// For each instruction, whether its value may differ between iterations of the loop.
std::vector<bool> varying_along(const KernelPlan& plan, const Loop& loop);
/// The widest vector access along `loop`: the largest power of two <= limit such that the stride is
/// one element and the rest of the address is a multiple of the width.
int vector_width(const KernelPlan& plan, const KernelOperand& operand, const Index& address,
                 const Loop& loop, int limit);
/// As above, for a load. All elements of a vector have the same guard.
int vector_width(const KernelPlan& plan, const Instruction& load, const Loop& loop, int limit);
/// A name built from the ops that are computed, most expensive first, and the result's dtype.
std::string describe(const KernelPlan& plan);

}  // namespace heddle::passes
