#pragma once

#include <functional>
#include <string>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// The text that a plan is printed as.
using TextOf = std::function<std::string(const KernelPlan&)>;

/// Finds kernels whose texts are equal except for their numbers (passes/plan/numbers.h) and
/// constants. Where a program has at least four different ones, they become one kernel, which takes
/// as arguments what differs among them. It computes the same bits. The plans of the kernels stay;
/// PlannedProgram::printed is the plan to print. Does nothing if "shared_kernels" is disabled.
void share_kernels(PlannedProgram& planned, const PlanOptions& options, const TextOf& text_of);

}  // namespace heddle::passes
