#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Computes 64-bit integers in 32 bits where these provably hold them: functions of narrow
/// elements, small constants and indices. A GPU multiplies 64-bit integers in several instructions.
/// States of reductions stay wide.
void narrow_integers(KernelPlan& plan);

}  // namespace heddle::passes
