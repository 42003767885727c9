#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Whether the reduction rounds: a sum of floating-point or complex numbers.
bool is_rounded_sum(const Reduction& reduction);

/// How to keep the error of a sum of n elements within |result - exact| <= (1 + 2 log2 n) eps
/// sum|x|: without folding, with folding, or with compensated folding.
Folding folding_of(const KernelPlan& plan);

}  // namespace heddle::passes
