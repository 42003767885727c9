#include <algorithm>
#include <set>
#include <utility>

#include "heddle/error.h"

#include "ir/graph.h"

namespace heddle::ir {

bool Requirement::holds(std::span<const SymbolBinding> bindings) const {
  try {
    return value.evaluate(bindings) >= 0 || unless_zero.evaluate(bindings) == 0;
  } catch (const ValueError&) {
    return false;  // beyond 64 bits
  }
}

void Requirement::raise(const std::string& message) const {
  switch (breach) {
    case Breach::index:
      throw IndexError(message);
    case Breach::shape:
    case Breach::bytes:
      throw ShapeError(message);
    case Breach::value:
      break;
  }
  throw ValueError(message);
}

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
    // An array that is there has extents and bytes.
    for (const ValueId parameter : graph_.parameters()) {
      for (const Requirement& one : open(parameter)) {
        is_new(one);
        if (one.breach == Requirement::Breach::bytes) bytes_.push_back(one.value);
      }
    }
    std::vector<Requirement> result;
    const std::vector<bool> needed = needed_nodes(graph_);
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId node{i};
      if (!needed[i] || graph_.op(node) == Op::parameter) continue;
      for (Requirement& one : open(node)) {
        if (fits_parameter(one) || !is_new(one)) continue;
        one.location = graph_.node(node).location.to_string();
        result.push_back(std::move(one));
      }
    }
    return result;
  }

 private:
  std::vector<Requirement> open(ValueId node) const {
    std::vector<Requirement> found;
    std::vector<Type> operands;
    for (const ValueId operand : graph_.operands(node)) operands.push_back(graph_.type(operand));
    infer(graph_.op(node), operands, graph_.attributes(node), &found);
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
};

}  // namespace

std::vector<Requirement> requirements(const Graph& graph) { return Collector(graph).run(); }

}  // namespace heddle::ir
