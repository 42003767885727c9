#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// If much of a reduction kernel's work for an element is the same in neighbouring iterations of an
/// outer loop, and the kernel is bound by that work, a thread takes a few of them at once: each
/// gets reductions and stores of its own, and what they share is loaded and computed once. Needs
/// assign_stages(), and afterwards again. Returns whether it changed the plan.
bool share_iterations(KernelPlan& plan, IndexSpace& space, const ir::Target& target);

}  // namespace heddle::passes
