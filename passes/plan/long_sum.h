#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Whether the reduction rounds: a sum of floating-point or complex numbers.
bool is_rounded_sum(const Reduction& reduction);

/// The cheapest folding for which sums of n elements satisfy |result - exact| <= (1 + 2 log2 n) eps
/// sum|x|: none, plain or compensated.
Folding folding_of(const KernelPlan& plan);

/// Compensates sums of exponentials in which one thread adds more elements than this bound allows.
void compensate_exponentials(KernelPlan& plan);

}  // namespace heddle::passes
