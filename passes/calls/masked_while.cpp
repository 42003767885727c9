#include "passes/calls/masked_while.h"

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

/// The results of a region that is computed in place.
std::vector<ValueId> inlined(Graph& graph, const ir::Region& region,
                             std::span<const ValueId> arguments) {
  const Graph& from = *region.graph;
  std::vector<ValueId> mapped(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    std::vector<ValueId> operands;
    for (const ValueId operand : from.operands(node)) operands.push_back(mapped[index_of(operand)]);
    mapped[i] = from.op(node) == ir::Op::parameter ? arguments[from.attributes(node).index]
                                                   : copy_node(graph, from, node, operands);
  }
  std::vector<ValueId> results;
  for (const ValueId output : from.outputs) results.push_back(mapped[index_of(output)]);
  return results;
}

}  // namespace

std::vector<ValueId> masked_while(Graph& graph, const OldCall& call) {
  const ir::Region &condition = call.data().regions[0], &body = call.data().regions[1];
  const auto carries = static_cast<std::size_t>(call.data().get<std::int64_t>("carries"));
  const std::size_t constants = call.operands.size() - carries;
  std::vector<ValueId> operands = call.operands;
  operands.push_back(inlined(graph, condition, call.operands)[0]);
  const auto parameters = [&](Graph& region) {
    std::vector<ValueId> made;
    for (const ValueId operand : operands)
      made.push_back(region.parameter(graph.dtype(operand), graph.shape(operand)));
    return made;
  };
  Graph any_active;
  const ValueId tested = parameters(any_active).back();
  ir::Attributes whole;
  whole.axes.resize(any_active.shape(tested).size());
  std::iota(whole.axes.begin(), whole.axes.end(), 0);
  any_active.outputs = {any_active.add(ir::Op::any, {tested}, std::move(whole))};
  Graph step;
  std::vector<ValueId> values = parameters(step);
  const ValueId active = values.back();
  values.pop_back();
  const std::vector<ValueId> next = inlined(step, body, values);
  for (std::size_t k = 0; k < carries; ++k) {
    ValueId& carry = values[constants + k];
    carry = step.add(ir::Op::select, {active, next[k], carry});
    step.outputs.push_back(carry);
  }
  const ValueId again = inlined(step, condition, values)[0];
  step.outputs.push_back(step.add(ir::Op::logical_and, {active, again}));
  const ValueId made =
      graph.add(ir::Op::call, operands,
                ir::call_attributes(
                    ir::calls::while_loop(), {{"carries", static_cast<std::int64_t>(carries + 1)}},
                    {ir::make_region(std::move(any_active)), ir::make_region(std::move(step))}),
                call.location());
  std::vector<ValueId> results = {made};
  for (std::size_t k = 1; k < carries; ++k)
    results.push_back(graph.result(made, k, call.location()));
  return results;
}

}  // namespace heddle::passes
