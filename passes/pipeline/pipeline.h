#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// A rewrite of the whole graph. Without an optional pass, programs may be slower, and results may
/// differ as far as docs/guide/numerics.md allows.
struct GraphPass {
  std::string_view name;
  Graph (*run)(const Graph& graph, const PlanOptions& options);
  std::string_view why;   ///< reason for its position in the list
  bool required = false;  ///< cannot be switched off, because later stages depend on it
};

/// The passes, in order of execution.
std::span<const GraphPass> graph_passes();

/// The names that PlanOptions::disabled accepts: passes, families and other switches.
std::vector<std::string_view> switches();
/// Throws ValueError for a name that is not a switch. The message contains `where` and lists all
/// switches.
void require_switches(std::span<const std::string> names, std::string_view where);

/// Runs all passes that are not switched off. Verifies and dumps the graph after each
/// (HEDDLE_DUMP=passes).
Graph run_graph_passes(const Graph& graph, const PlanOptions& options,
                       const PassObserver& observer = {});

}  // namespace heddle::passes
