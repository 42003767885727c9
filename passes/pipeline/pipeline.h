#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// A rewriting of the whole graph. Switching one off changes speed, never results beyond the rules
/// of exactness.
struct GraphPass {
  std::string_view name;
  Graph (*run)(const Graph& graph, const PlanOptions& options);
  std::string_view why;   ///< it stands where it stands
  bool required = false;  ///< cannot be switched off: later stages count on its work
};

/// In the order in which they run.
std::span<const GraphPass> graph_passes();

/// The names that PlanOptions::disabled knows: passes, families, and what else has a switch.
std::vector<std::string_view> switches();
/// Throws ValueError, which names `where` and lists what is known, for another name.
void require_switches(std::span<const std::string> names, std::string_view where);

/// Runs them all but those switched off, verifies and dumps after each (HEDDLE_DUMP=passes).
Graph run_graph_passes(const Graph& graph, const PlanOptions& options,
                       const PassObserver& observer = {});

}  // namespace heddle::passes
