#include "passes/calls/element_regions.h"

#include <algorithm>

#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/simplify.h"

namespace heddle::passes {

void ElementRegions::move_invariants(const LoopRegion& region,
                                     const std::vector<std::size_t>& outputs) {
  const Graph& graph = region.graph();
  const std::vector<bool> needed = needed_nodes(graph, outputs);
  std::vector<std::optional<ValueId>>& moved = moved_.emplace_back(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (!needed[i] || region.varies(node)) continue;
    if (graph.op(node) == ir::Op::parameter) {
      moved[i] = call_.operands[graph.attributes(node).index - region.counters()];
      continue;
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(node))
      operands.push_back(*moved[index_of(operand)]);
    moved[i] = copy_node(outer_, graph, node, operands);
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!needed[i] || !region.varies(static_cast<ValueId>(i))) continue;
    for (const ValueId operand : graph.operands(static_cast<ValueId>(i))) use(region, operand);
  }
  for (const std::size_t output : outputs) use(region, graph.outputs[output]);
}

ir::Region ElementRegions::scalar_region(const LoopRegion& region,
                                         const std::vector<std::size_t>& outputs) {
  const Graph& from = region.graph();
  Graph graph;
  std::vector<ValueId> mapped(from.size());
  if (region.counters() > 0) {
    mapped[index_of(from.parameters()[region.counters() - 1])] = graph.parameter(DType::i64, {});
  }
  std::vector<ValueId> constants;
  for (const ValueId constant : constants_)
    constants.push_back(graph.parameter(outer_.dtype(constant), {}));
  const std::size_t before = region.counters() + region.constants();
  const auto take = [&](std::size_t first, const std::vector<bool>& taken) {
    for (std::size_t k = 0; k < taken.size(); ++k) {
      const ValueId parameter = from.parameters()[first + k];
      if (taken[k]) mapped[index_of(parameter)] = graph.parameter(from.dtype(parameter), {});
    }
  };
  take(before, carries_);
  if (!sequences_.empty()) take(before + carries_.size(), sequences_);
  const std::vector<std::optional<ValueId>>& moved = moved_[made_++];
  std::vector<bool> wanted = needed_nodes(from, outputs);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (!wanted[i]) continue;
    if (!region.varies(node)) {
      const auto found = moved[i] ? std::ranges::find(constants_, *moved[i]) : constants_.end();
      if (from.op(node) == ir::Op::constant)
        mapped[i] = graph.constant(from.dtype(node), from.attributes(node).bits);
      else if (found != constants_.end())
        mapped[i] = constants[static_cast<std::size_t>(found - constants_.begin())];
      continue;
    }
    if (from.op(node) == ir::Op::parameter) continue;
    std::vector<ValueId> operands;
    for (const ValueId operand : from.operands(node)) operands.push_back(mapped[index_of(operand)]);
    mapped[i] = region.is_same_element(node) ? operands[0] : copy_node(graph, from, node, operands);
  }
  for (const std::size_t output : outputs)
    graph.outputs.push_back(mapped[index_of(from.outputs[output])]);
  return ir::make_region(simplify(graph));
}

/// Makes an invariant that varying nodes read a constant of the loop.
void ElementRegions::use(const LoopRegion& region, ValueId node) {
  if (region.varies(node) || region.graph().op(node) == ir::Op::constant) return;
  const ValueId value = *moved_.back()[index_of(node)];
  if (std::ranges::find(constants_, value) == constants_.end()) constants_.push_back(value);
}

}  // namespace heddle::passes
