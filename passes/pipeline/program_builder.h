#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ir/types/target.h"
#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"
#include "passes/program/program.h"

namespace heddle::passes {

/// Options for planning a program.
struct PlanOptions {
  ir::Target target;
  std::vector<bool> donated;                 ///< for each parameter: its memory may be overwritten
  std::vector<bool> aligned;                 ///< for each parameter: 16-byte aligned
  std::vector<std::string> disabled;         ///< names of passes, families and switches
  bool strict = false, approximate = false;  ///< as in CompileOptions
  /// In the program of a loop's region: the symbol of the counter, which is scalar input 1.
  std::optional<ir::SymbolId> counter = {};
  std::vector<bool> aligned_outputs = {};  ///< for each output: 16-byte aligned; empty: all are
};

/// A kernel that several steps launch, with arguments that differ.
struct SharedKernel {
  KernelPlan plan;
  std::shared_ptr<IndexSpace> space;  ///< of the plan's addresses
};

/// A program with the plans of its kernels, in the order of Program::kernel_names. The printers set
/// the names.
struct PlannedProgram {
  Program program;
  std::vector<KernelPlan> kernels;
  std::vector<SharedKernel> shared;  ///< set by share_kernels()
  /// By kernel: the index of the shared kernel that is printed instead of it. May be empty.
  std::vector<std::optional<std::uint32_t>> shared_of_kernel;
  Graph graph;  ///< after the graph passes; ValueIds in plans and groups refer to it
  Grouping grouping;
  std::vector<std::uint32_t> group_of_kernel, group_of_step;  ///< the group that each was made for
  /// The plans of regions, whose graphs and spaces the kernels of their programs refer to.
  std::vector<std::shared_ptr<const PlannedProgram>> regions;

  std::optional<std::uint32_t> shared_kernel(std::size_t kernel) const {
    return shared_of_kernel.empty() ? std::nullopt : shared_of_kernel[kernel];
  }
  /// The plan that is printed for a kernel.
  const KernelPlan& printed(std::size_t kernel) const {
    const std::optional<std::uint32_t> instead = shared_kernel(kernel);
    return instead ? shared[*instead].plan : kernels[kernel];
  }
  /// By group: the group that its kernel was made for. Differs from itself in item chains.
  std::vector<std::uint32_t> kernel_owner;
};

/// Called for each pass in order: whether it ran or is switched off, and the graph after it.
struct GraphPass;
using PassObserver = std::function<void(const GraphPass& pass, bool ran, const Graph& after)>;

/// Runs the graph passes, forms groups, plans each group, and orders the steps with their buffers.
PlannedProgram plan_program(const Graph& graph, const PlanOptions& options,
                            const PassObserver& observer = {});

}  // namespace heddle::passes
