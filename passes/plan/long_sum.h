#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Whether its result is rounded: a sum of floating-point or complex numbers.
bool is_rounded_sum(const Reduction& reduction);

/// What keeps the error of a sum of n elements, |result - exact|, to (1 + 2 log2 n) eps sum|x|:
/// nothing, additions to totals, or compensated ones.
Folding folding_of(const KernelPlan& plan);

}  // namespace heddle::passes
