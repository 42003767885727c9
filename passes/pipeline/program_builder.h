#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ir/types/target.h"
#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"
#include "passes/program/program.h"

namespace heddle::passes {

/// What a program is planned for, beside its graph.
struct PlanOptions {
  ir::Target target;
  std::vector<bool> donated;                 ///< per parameter: its memory may be written
  std::vector<bool> aligned;                 ///< per parameter: starts at a multiple of 16 bytes
  std::vector<std::string> disabled;         ///< passes, families and switches by name
  bool strict = false, approximate = false;  ///< as CompileOptions
};

/// A program and the kernels that its steps launch, in the order of Program::kernel_names. The
/// names are the printers' to fill in.
struct PlannedProgram {
  Program program;
  std::vector<KernelPlan> kernels;
  Graph graph;  ///< after the graph passes; ValueIds in plans and groups are its
  Grouping grouping;
  std::vector<std::uint32_t> group_of_kernel, group_of_step;  ///< that each was made for
};

/// Is told of each pass, in order, whether it ran or is switched off, and what the graph is then.
struct GraphPass;
using PassObserver = std::function<void(const GraphPass& pass, bool ran, const Graph& after)>;

/// Runs the graph passes, groups, plans every group, and orders the steps over buffers.
PlannedProgram plan_program(const Graph& graph, const PlanOptions& options,
                            const PassObserver& observer = {});

}  // namespace heddle::passes
