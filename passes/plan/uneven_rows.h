#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Arrays whose rows no vector divides, stored in whole vectors: a thread takes an aligned vector
/// of the stored array, wherever rows begin. Where a vector holds elements of two rows, the thread
/// computes them one by one. Sets KernelPlan::vector and row_loops if that applies and the loads,
/// most of which are then not aligned, allow it.
void store_uneven_rows(KernelPlan& plan, const ir::Target& target);

/// The last row_loops loops: those of a row.
std::vector<Loop> row_loops(const KernelPlan& plan);

/// In a plan with uneven rows: whether a load reads aligned vectors.
bool is_aligned_in_uneven_rows(const KernelPlan& plan, const Instruction& load);
/// Whether a load reads vectors of narrow elements that begin anywhere in a word.
bool is_unaligned_in_uneven_rows(const KernelPlan& plan, const Instruction& load);

/// Whether a load reads vectors, of one of the two kinds.
bool is_vector_in_uneven_rows(const KernelPlan& plan, const Instruction& load);
/// Whether a plan has uneven rows, and all loads but those of values that a row shares do so.
bool loads_vectors_in_uneven_rows(const KernelPlan& plan);

}  // namespace heddle::passes
