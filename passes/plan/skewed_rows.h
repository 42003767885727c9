#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Rows of narrow elements whose length is no multiple of a vector begin anywhere within one. In a
/// kernel that reduces such rows, a thread's vectors are aligned in memory: the first and the last
/// of a row also contain elements of its neighbours, which are left out. Sets KernelPlan::vector
/// and skewed if that applies.
void skew_rows(KernelPlan& plan, const ir::Target& target);

/// Whether a load reads aligned vectors in a plan with skewed rows.
bool is_aligned_in_skewed_rows(const KernelPlan& plan, const Instruction& load);

/// The address of a load at the begin of a row.
Index begin_of_row(const KernelPlan& plan, const Instruction& load);

}  // namespace heddle::passes
