#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Whether 32 bits provably hold the sum of up to `length` values of a 64-bit instruction.
bool sums_in_32_bits(const KernelPlan& plan, int value, Dim length);

/// Computes 64-bit integers in 32 bits where these provably hold them: functions of narrow
/// elements, small constants and indices. A GPU multiplies 64-bit integers in several instructions.
void narrow_integers(KernelPlan& plan, const ir::Target& target);

}  // namespace heddle::passes
