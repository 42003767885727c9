#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Launches steps of one shared kernel together where none needs another's results: the program is
/// put in the order of step_levels(), and the kernel takes a table of launches
/// (KernelPlan::table_rows). After share_kernels(), for GPUs. Does nothing if that would save less
/// than a fifth of the program's steps, or take much more memory, or if "launch_tables" is
/// disabled.
void form_launch_tables(PlannedProgram& planned, const PlanOptions& options);

}  // namespace heddle::passes
