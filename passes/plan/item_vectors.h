#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// On a GPU, the neighbouring elements along the last loop that each access of the phase to memory
/// outside of items covers: a power of two up to 16 bytes. 1 if some access is not contiguous or
/// not aligned, and for direct phases and routines.
int vector_of_phase(const KernelPlan& plan, const ItemPhase& phase);
/// The same, also of a direct phase, whose routine may pass several neighbours at once.
int access_width(const KernelPlan& plan, const ItemPhase& phase);

}  // namespace heddle::passes
