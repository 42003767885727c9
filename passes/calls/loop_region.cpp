#include "passes/calls/loop_region.h"

#include <algorithm>
#include <span>

#include "ir/graph/needed_nodes.h"
#include "passes/groups/per_element.h"
#include "passes/rewrite/simplify.h"

namespace heddle::passes {

namespace {

/// A shape without its leading extents of 1.
std::span<const Dim> significant(const ir::Shape& shape) {
  const auto first = std::ranges::find_if(shape, [](Dim extent) { return extent != Dim(1); });
  return {first, shape.end()};
}

/// Loops inside the region are lowered first.
Graph prepared(const Graph& region, const ir::Target& target) {
  Graph graph = simplify(region);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (graph.op(node) == ir::Op::call && !graph.attributes(node).call->regions.empty())
      return simplify(lower_calls(graph, target));
  }
  return graph;
}

}  // namespace

bool unite(Carries& all, const Carries& more) {
  bool grew = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    grew |= more[i] && !all[i];
    if (more[i]) all[i] = true;
  }
  return grew;
}

std::vector<bool> needed_nodes(const Graph& graph, const std::vector<std::size_t>& outputs) {
  std::vector<ValueId> values;
  for (const std::size_t output : outputs) values.push_back(graph.outputs[output]);
  return ir::needed_nodes(graph, values);
}

LoopRegion::LoopRegion(const ir::Region& region, std::size_t counters,
                       std::optional<ir::SymbolId> symbol, std::size_t constants,
                       std::size_t carries, const ir::Target& target)
    : graph_(prepared(*region.graph, target)),
      symbol_(symbol),
      counters_(counters),
      constants_(constants),
      depends_(graph_.size(), Carries(carries)),
      varies_(graph_.size()) {
  for (std::size_t i = 0; i < graph_.parameters().size(); ++i) {
    const std::uint32_t node = index_of(graph_.parameters()[i]);
    varies_[node] = i < counters || i >= counters + constants;
    const bool is_carry = i >= counters + constants && i < counters + constants + carries;
    if (is_carry) depends_[node][i - counters - constants] = true;
  }
  const std::vector<bool> needed = ir::needed_nodes(graph_);
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    look_at(node);
    if (!obstacle_ && needed[i] && varies_[i] && !is_computed(node)) obstacle_ = node;
  }
}

bool LoopRegion::is_same_element(ValueId node) const {
  const ir::Op op = graph_.op(node);
  if (op == ir::Op::broadcast_to) return true;
  if (op != ir::Op::reshape) return false;
  const ir::Shape& from = graph_.shape(graph_.operands(node)[0]);
  return std::ranges::equal(significant(from), significant(graph_.shape(node)));
}

void LoopRegion::look_at(ValueId node) {
  const std::uint32_t i = index_of(node);
  if (graph_.op(node) == ir::Op::parameter) return;
  for (const ValueId operand : graph_.operands(node)) {
    if (varies_[index_of(operand)]) varies_[i] = true;
    unite(depends_[i], depends_[index_of(operand)]);
  }
  // A call may fail, so it does not move out of the loop.
  const bool may_fail = ir::is_of_call(graph_.op(node)) && !is_element_call(graph_, node);
  if (may_fail || begins_at_counter(node)) varies_[i] = true;
}

bool LoopRegion::is_computed(ValueId node) const {
  return graph_.op(node) == ir::Op::parameter || passes::is_per_element(graph_, node) ||
         is_same_element(node);
}

bool LoopRegion::begins_at_counter(ValueId node) const {
  std::vector<ir::SymbolId> symbols;
  for (const Dim& start : graph_.attributes(node).starts) start.collect_symbols(symbols);
  return symbol_ && std::ranges::find(symbols, *symbol_) != symbols.end();
}

}  // namespace heddle::passes
