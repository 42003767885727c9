#include "passes/pipeline/pipeline.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/base/dump.h"
#include "ir/base/span.h"
#include "passes/calls/lowering.h"
#include "passes/plan/family.h"
#include "passes/rewrite/attention.h"
#include "passes/rewrite/roll_loops.h"
#include "passes/rewrite/simplify.h"
#include "passes/rewrite/split_concatenate.h"
#include "passes/rewrite/vectorize_loops.h"

namespace heddle::passes {

namespace {

/// In debug and CI builds, the graph is verified after each pass, and the error names the pass.
/// Otherwise only the last graph is verified.
#ifdef HEDDLE_VERIFY_EACH_PASS
constexpr bool verify_each_pass = true;
#else
constexpr bool verify_each_pass = false;
#endif

bool is_disabled(const PlanOptions& options, std::string_view pass) {
  return std::ranges::find(options.disabled, pass) != options.disabled.end();
}

Graph find_loops(const Graph& graph, const PlanOptions& options) {
  constexpr std::size_t few = 4;
  return roll_loops(graph,
                    {.counter = options.counter,
                     .min_independent_steps = is_disabled(options, "vectorize_loops") ? 0 : few});
}

}  // namespace

std::span<const GraphPass> graph_passes() {
  static const GraphPass passes[] = {
      {"roll_loops", find_loops, "first: the steps of a loop are alike as they were recorded"},
      {"vectorize_loops",
       [](const Graph& graph, const PlanOptions& options) {
         Graph current = graph;
         while (auto next = vectorize_loops(current))
           current = is_disabled(options, "roll_loops") ? *next : find_loops(*next, options);
         return current;
       },
       "after loops have been found; then there may be loops around them"},
      {"trivial_ops",
       [](const Graph& graph, const PlanOptions&) { return remove_trivial_ops(graph); },
       "early, so that later passes see no reductions or scans over 0 or 1 elements and no empty "
       "parts of concatenations",
       true},
      {"simplify", [](const Graph& graph, const PlanOptions&) { return simplify(graph); },
       "before calls are lowered, so that transposes next to them have been composed"},
      {"attention",
       [](const Graph& graph, const PlanOptions& options) {
         return options.strict ? graph : find_attention(graph, options.target);
       },
       "after transposes have been composed, before products are lowered"},
      {"calls",
       [](const Graph& graph, const PlanOptions& options) {
         return lower_calls(graph, options.target);
       },
       "calls are lowered for the target's libraries, before views next to sorts are composed",
       true},
      {"trivial_ops_again",
       [](const Graph& graph, const PlanOptions&) { return remove_trivial_ops(graph); },
       "a matrix product of depth 1 is lowered to a sum over one element", true},
      {"simplify_again", [](const Graph& graph, const PlanOptions&) { return simplify(graph); },
       "lowering leaves reshapes of reshapes and casts of casts"},
      {"split_concatenate",
       [](const Graph& graph, const PlanOptions&) { return split_concatenations(graph); },
       "after empty parts of concatenations have been removed", true},
  };
  return passes;
}

std::vector<std::string_view> switches() {
  std::vector<std::string_view> names = {"epilogue",       "in_place",      "symbols",
                                         "radix_sort",     "merge_sort",    "items",
                                         "shared_kernels", "launch_tables", "small_reductions"};
  for (const GraphPass& pass : graph_passes()) {
    if (!pass.required) names.push_back(pass.name);
  }
  // The last family cannot be switched off: it accepts what no other family does.
  for (const Family* family : families().first(families().size() - 1))
    names.push_back(family->name());
  return names;
}

void require_switches(std::span<const std::string> names, std::string_view where) {
  if (names.empty()) return;
  const std::vector<std::string_view> known = switches();
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw ValueError(fmt::format("{}: '{}' cannot be switched off; valid names are {}", where, name,
                                 fmt::join(known, ", ")));
  }
}

Graph run_graph_passes(const Graph& graph, const PlanOptions& options,
                       const PassObserver& observer) {
  Graph current = graph;
  ir::dump("ir", graph.name, [&] { return ir::print(graph, {.locations = true}); });
  for (const GraphPass& pass : graph_passes()) {
    const bool runs = !is_disabled(options, pass.name) || pass.required;
    if (runs) {
      {
        const ir::Span span(ir::Phase::pass, pass.name);
        current = pass.run(current, options);
      }
      if (verify_each_pass) ir::verify(current);
      ir::dump("passes", graph.name + " after " + std::string(pass.name),
               [&] { return ir::print(current); });
    }
    if (observer) observer(pass, runs, current);
  }
  ir::verify(current);
  return current;
}

}  // namespace heddle::passes
