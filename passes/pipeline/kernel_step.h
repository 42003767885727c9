#pragma once

#include <vector>

#include "passes/pipeline/program_buffers.h"

namespace heddle::passes {

/// The launch of a kernel: its shape, and its arguments in the order of the kernel's parameters:
/// arrays, then sizes, then scalars. `partials` holds what the kernels of a split reduction and the
/// tiles of a scan pass to each other. Marks the plan's operands that share memory.
KernelStep kernel_step(KernelPlan& plan, ProgramBuffers& buffers,
                       const std::vector<BufferRef>& partials, const PlanOptions& options);

}  // namespace heddle::passes
