#include <set>
#include <tuple>

#include "heddle/error.h"

#include "ir/graph.h"

namespace heddle::ir {

bool Requirement::holds(std::span<const SymbolBinding> bindings) const {
  return value.evaluate(bindings) >= 0 || unless_zero.evaluate(bindings) == 0;
}

void Requirement::raise(const std::string& message) const {
  switch (breach) {
    case Breach::index:
      throw IndexError(message);
    case Breach::shape:
      throw ShapeError(message);
    case Breach::value:
      break;
  }
  throw ValueError(message);
}

std::vector<Requirement> requirements(const Graph& graph) {
  std::vector<Requirement> result, open;
  std::set<std::tuple<std::string, std::string, Requirement::Breach>> seen;
  std::vector<Type> operands;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ValueId node{i};
    operands.clear();
    for (const ValueId operand : graph.operands(node)) operands.push_back(graph.type(operand));
    open.clear();
    infer(graph.op(node), operands, graph.attributes(node), &open);
    for (Requirement& one : open) {
      if (!seen.emplace(one.value.to_string(), one.unless_zero.to_string(), one.breach).second)
        continue;
      one.location = graph.node(node).location.to_string();
      result.push_back(std::move(one));
    }
  }
  return result;
}

}  // namespace heddle::ir
