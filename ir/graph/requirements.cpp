#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "heddle/error.h"

#include "ir/calls/control.h"
#include "ir/graph/graph.h"
#include "ir/graph/needed_nodes.h"

namespace heddle::ir {

namespace {

class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph) {}

  std::vector<Requirement> run() {
    // A parameter's array exists, so its extents and its byte size are valid.
    for (const ValueId parameter : graph_.parameters()) {
      for (const Requirement& one : open(graph_, parameter)) {
        is_new(one);
        if (one.breach == Requirement::Breach::bytes) bytes_.push_back(one.value);
      }
    }
    collect(graph_);
    return std::move(result_);
  }

 private:
  /// The values of a loop's counter, from 0 to length - 1, in a region.
  struct Counter {
    SymbolId symbol;
    Dim length;
  };

  /// Collects from a graph and its regions, which use the graph's symbols.
  void collect(const Graph& graph) {
    const std::vector<bool> needed = needed_nodes(graph);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const ValueId node{i};
      if (!needed[i] || graph.op(node) == Op::parameter) continue;
      for (Requirement& one : open(graph, node)) {
        one.location = graph.node(node).location.to_string();
        require(std::move(one), counters_.size());
      }
      if (graph.op(node) == Op::call) collect_regions(*graph.attributes(node).call);
    }
  }

  void collect_regions(const CallData& call) {
    const std::optional<SymbolId> counter = scan_counter(call);
    if (counter) counters_.push_back({*counter, scan_length(call)});
    for (const Region& region : call.regions) collect(*region.graph);
    if (counter) counters_.pop_back();
  }

  /// Adds a condition, for the first and the last step of each of the first `depth` loops around
  /// it: the starts of slices are linear in counters.
  void require(Requirement one, std::size_t depth) {
    if (depth > 0) {
      const Counter& counter = counters_[depth - 1];
      const Dim first = at(one.value, counter.symbol, 0);
      if (first == one.value) return require(std::move(one), depth - 1);
      Requirement last = one;
      last.value = first + (at(one.value, counter.symbol, 1) - first) * (counter.length - Dim(1));
      one.value = first;
      for (Requirement* const each : {&one, &last}) {
        each->unless_zero *= counter.length;
        require(std::move(*each), depth - 1);
      }
      return;
    }
    const bool holds =
        (one.value.is_constant() && one.value.constant() >= 0) || one.unless_zero == Dim(0);
    if (!holds && !fits_parameter(one) && is_new(one)) result_.push_back(std::move(one));
  }

  static Dim at(Dim value, SymbolId counter, std::int64_t step) {
    const SymbolBinding binding{counter, step};
    return value.with_bound({&binding, 1});
  }

  static std::vector<Requirement> open(const Graph& graph, ValueId node) {
    std::vector<Requirement> found;
    std::vector<Type> operands;
    for (const ValueId operand : graph.operands(node)) operands.push_back(graph.type(operand));
    if (graph.op(node) != Op::result)
      infer(graph.op(node), operands, graph.attributes(node), &found);
    return found;
  }

  bool is_new(const Requirement& one) {
    return seen_.emplace(one.value.to_string(), one.unless_zero.to_string()).second;
  }

  bool fits_parameter(const Requirement& one) const {
    return one.breach == Requirement::Breach::bytes && std::ranges::any_of(bytes_, [&](Dim bytes) {
             return (bytes - one.value).is_non_negative();
           });
  }

  const Graph& graph_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<Dim> bytes_;         ///< of parameters
  std::vector<Counter> counters_;  ///< of the loops around the graph, outermost first
  std::vector<Requirement> result_;
};

}  // namespace

std::vector<Requirement> requirements(const Graph& graph) { return Collector(graph).run(); }

}  // namespace heddle::ir
