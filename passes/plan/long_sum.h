#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Whether its result is rounded: a sum of floating-point or complex numbers.
bool is_rounded_sum(const Reduction& reduction);

/// Steps of a GPU thread's walk after which it folds its sums into totals, so that the error of a
/// sum of n elements, |result - exact|, is at most (1 + 2 log2 n) eps sum|x|; 0 where the kernel
/// keeps to this without.
int fold_after(const KernelPlan& plan);

}  // namespace heddle::passes
