#include "passes/calls/any_condition.h"

#include <algorithm>
#include <cstdint>

#include "ir/graph/graph.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

/// The p of any(p) over all axes.
std::optional<ValueId> tested_by_any(const Graph& condition) {
  ValueId output = condition.outputs[0];
  while (condition.op(output) == Op::reshape) output = condition.operands(output)[0];
  if (condition.op(output) != Op::any) return std::nullopt;
  const ValueId tested = condition.operands(output)[0];
  const bool all_axes = condition.attributes(output).axes.size() == condition.shape(tested).size();
  return all_axes ? std::optional(tested) : std::nullopt;
}

}  // namespace

std::optional<ir::Region> condition_of_elements(const ir::CallData& loop) {
  const Graph &condition = *loop.regions[0].graph, &body = *loop.regions[1].graph;
  const auto tested = tested_by_any(condition);
  if (!tested || condition.shape(*tested).empty()) return std::nullopt;
  const std::size_t constants = body.parameters().size() - body.outputs.size();
  for (std::size_t k = 0; k < body.outputs.size(); ++k) {
    const ValueId carry = body.parameters()[constants + k], next = body.outputs[k];
    if (body.shape(carry) != condition.shape(*tested)) return std::nullopt;
    if (next == carry) continue;
    // Nodes of both regions are equal if their hashes are: the parameters are the same.
    const bool keeps = body.op(next) == Op::select && body.operands(next)[2] == carry &&
                       body.node(body.operands(next)[0]).hash == condition.node(*tested).hash;
    if (!keeps) return std::nullopt;
  }
  Graph each = condition;
  each.outputs = {*tested};
  return ir::make_region(std::move(each));
}

}  // namespace heddle::passes
