#include <algorithm>
#include <set>
#include <utility>

#include "heddle/error.h"

#include "ir/graph/graph.h"

namespace heddle::ir {

namespace {

std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.size());
  for (const ValueId output : graph.outputs) needed[index_of(output)] = true;
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const ValueId operand : graph.operands(ValueId{static_cast<std::uint32_t>(i)}))
      needed[index_of(operand)] = true;
  }
  return needed;
}

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
  /// Collects from a graph and its regions, which use the graph's symbols.
  void collect(const Graph& graph) {
    const std::vector<bool> needed = needed_nodes(graph);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const ValueId node{i};
      if (!needed[i] || graph.op(node) == Op::parameter) continue;
      for (Requirement& one : open(graph, node)) {
        if (fits_parameter(one) || !is_new(one)) continue;
        one.location = graph.node(node).location.to_string();
        result_.push_back(std::move(one));
      }
      if (graph.op(node) != Op::call) continue;
      for (const Region& region : graph.attributes(node).call->regions) collect(*region.graph);
    }
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
  std::vector<Dim> bytes_;  ///< of parameters
  std::vector<Requirement> result_;
};

}  // namespace

std::vector<Requirement> requirements(const Graph& graph) { return Collector(graph).run(); }

}  // namespace heddle::ir
