#pragma once

#include <cstdint>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

// How many elements a thread of the elements mapping takes on a GPU.

/// Limit on the issue slots of one thread's code. Larger kernels do not fit into the instruction
/// caches.
inline constexpr std::int64_t most_thread_slots = 4096;
/// Issue slots of the kernel's work on one element. A loop is long: a thread that took several
/// elements would run their loops in turn.
std::int64_t element_slots(const KernelPlan& plan);

/// Takes single elements if more bytes would be loaded one at a time than in vectors. The threads
/// of a warp then load neighbouring elements, which are few memory lines.
void choose_single_elements(KernelPlan& plan);

/// Whether a thread would take several iterations of a loop because they load the same elements.
bool shares_loads(const KernelPlan& plan, const ir::Target& target);

/// Chooses how many iterations of a loop, or how many vectors along the last one, a thread takes:
/// several iterations if neighbouring ones load the same elements, or if the thread would otherwise
/// compute the position of each single element; several vectors if it would otherwise have too few
/// loads in flight. Only if enough threads remain.
void choose_elements_a_thread(KernelPlan& plan, const ir::Target& target);

}  // namespace heddle::passes
