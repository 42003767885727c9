#include "frontend/transform/slices.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/control.h"
#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "ir/calls/calls.h"
#include "ir/calls/collective.h"
#include "ir/graph/sliced_op.h"

namespace heddle::frontend {

using ir::Graph;
using ir::Op;
using ir::ValueId;

namespace {

bool any_varies(const std::vector<Slices>& values) {
  return std::ranges::any_of(values, &Slices::varies);
}

/// Records an op as it is. Further results of a call follow the first.
std::vector<NodeRef> record_op(Op op, const std::vector<NodeRef>& operands,
                               ir::Attributes attributes, const Site& site) {
  if (op == Op::call) return record_call(operands, std::move(attributes), site);
  return {record(op, operands, std::move(attributes), site)};
}

std::vector<NodeRef> nodes_of(const std::vector<Slices>& values) {
  std::vector<NodeRef> nodes;
  for (const Slices& value : values) nodes.push_back(value.node);
  return nodes;
}

/// The value as an operand that has an axis of slices of extent 1.
NodeRef with_one_slice(const NodeRef& node, const Site& site) {
  ir::Shape shape = node->shape;
  shape.insert(shape.begin(), ir::Dim(1));
  return reshape_to(node, std::move(shape), site);
}

}  // namespace

Site site_of(const ir::Node& node) {
  Site site;
  site.location = node.location;
  return site;
}

void align_slices(Slices& value, std::size_t rank, const Site& site) {
  if (!value.varies || value.node->shape.size() == rank + 1) return;
  ir::Shape shape = value.node->shape;
  shape.insert(shape.begin() + 1, rank + 1 - shape.size(), ir::Dim(1));
  value.node = reshape_to(value.node, std::move(shape), site);
}

std::vector<bool> varying_outputs(const Graph& graph, const std::vector<bool>& parameters) {
  std::vector<bool> varies(graph.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    varies[index_of(graph.parameters()[i])] = parameters[i];
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    for (const ValueId operand : graph.operands(ValueId{i}))
      varies[i] = varies[i] || varies[index_of(operand)];
  }
  std::vector<bool> outputs;
  for (const ValueId output : graph.outputs) outputs.push_back(varies[index_of(output)]);
  return outputs;
}

std::vector<Slices> SliceRecorder::run(const Graph& graph,
                                       const std::vector<Slices>& inputs) const {
  std::vector<Results> made(graph.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    made[index_of(graph.parameters()[i])] = {inputs[i]};
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ValueId id{i};
    if (graph.op(id) == Op::parameter) continue;
    if (graph.op(id) == Op::constant) {
      made[i] = {{record_scalar(graph.dtype(id), graph.attributes(id).bits, true)}};
      continue;
    }
    if (graph.op(id) == Op::result) {
      made[i] = {made[index_of(graph.operands(id)[0])][graph.attributes(id).index]};
      continue;
    }
    std::vector<Slices> operands;
    for (const ValueId operand : graph.operands(id))
      operands.push_back(made[index_of(operand)].front());
    made[i] = record_node(graph, id, std::move(operands));
  }
  std::vector<Slices> outputs;
  for (const ValueId output : graph.outputs) outputs.push_back(made[index_of(output)].front());
  return outputs;
}

NodeRef SliceRecorder::with_slices(const Slices& value, const Site& site) const {
  return value.varies ? value.node
                      : broadcast_to_shape(value.node, sliced(value.node->shape), site);
}

ir::Shape SliceRecorder::sliced(const ir::Shape& shape) const {
  ir::Shape result = shape;
  result.insert(result.begin(), count_);
  return result;
}

std::vector<Slices> SliceRecorder::record_node(const Graph& graph, ValueId id,
                                               std::vector<Slices> operands) const {
  if (any_varies(operands)) return record_varying(graph, id, std::move(operands));
  Results results;
  for (NodeRef& node :
       record_op(graph.op(id), nodes_of(operands), graph.attributes(id), site_of(graph.node(id))))
    results.push_back({std::move(node)});
  return results;
}

std::vector<Slices> SliceRecorder::record_varying(const Graph& graph, ValueId id,
                                                  std::vector<Slices> operands) const {
  const Site site = site_of(graph.node(id));
  if (graph.op(id) == Op::call) {
    const ir::CallData& call = *graph.attributes(id).call;
    if (call.op == &ir::calls::scan()) return record_scan(call, std::move(operands), site);
    if (call.op == &ir::calls::while_loop()) return record_while(call, std::move(operands), site);
    if (call.op == &ir::calls::switch_case()) return record_switch(call, std::move(operands), site);
    if (call.op->regions != 0 || call.op == &ir::calls::user_write() ||
        call.op == &ir::calls::collective()) {
      throw TraceError(at(fmt::format("{} cannot be recorded for many slices at once; call it "
                                      "outside of the vectorised function",
                                      call.op->name),
                          site));
    }
  }
  std::vector<bool> varies;
  for (const Slices& operand : operands) varies.push_back(operand.varies);
  std::optional<ir::SlicedOp> sliced = ir::sliced_op(graph, id, varies, count_);
  if (!sliced && ir::finds_index(graph.op(id)) && graph.attributes(id).axes.size() != 1)
    return {record_index_of_extreme(graph, id, operands[0])};
  if (!sliced) return record_in_a_loop(graph, id, operands);
  for (std::size_t i = 0; i < operands.size(); ++i) prepare(operands[i], *sliced, i, site);
  Results results;
  for (NodeRef& node :
       record_op(graph.op(id), nodes_of(operands), std::move(sliced->attributes), site))
    results.push_back({std::move(node), true});
  return results;
}

/// Makes operand `i` what the op takes.
void SliceRecorder::prepare(Slices& operand, const ir::SlicedOp& op, std::size_t i,
                            const Site& site) const {
  switch (op.operands[i]) {
    case ir::SlicedOperand::as_given:
      return;
    case ir::SlicedOperand::aligned:
      return align_slices(operand, op.rank, site);
    case ir::SlicedOperand::one:
      if (operand.varies) return align_slices(operand, op.rank, site);
      operand.node = with_one_slice(operand.node, site);
      return;
    case ir::SlicedOperand::repeated:
      operand.node = with_slices(operand, site);
      return;
    case ir::SlicedOperand::written:  // a scalar is written to every element
      align_slices(operand, op.attributes.shape.size() - 1, site);
      operand.node = broadcast_to_shape(operand.node, op.attributes.shape, site);
      return;
  }
}

/// An op that takes no axis of slices: a step of the loop computes it for one slice.
std::vector<Slices> SliceRecorder::record_in_a_loop(const Graph& graph, ValueId id,
                                                    const std::vector<Slices>& operands) const {
  Values sequences;
  for (const Slices& operand : operands)
    if (operand.varies) sequences.push_back(Access::make(operand.node));
  const ScanBody body = [&](const Array&, const Values&, const Values& elements) {
    std::vector<NodeRef> nodes;
    auto element = elements.begin();
    for (const Slices& operand : operands) {
      const Array value = operand.varies ? *element++ : Access::make(operand.node);
      nodes.push_back(Access::node(value, where_));
    }
    Scanned made;
    for (NodeRef& node :
         record_op(graph.op(id), nodes, graph.attributes(id), site_of(graph.node(id))))
      made.stacked.push_back(Access::make(std::move(node)));
    return made;
  };
  Results results;
  const ScanOptions options{.op = "vmap", .counter = "slice"};
  for (const Array& stack : scan_values(body, {}, sequences, options, where_).stacked)
    results.push_back({Access::node(stack, where_), true});
  return results;
}

/// argmin and argmax take one axis or all. All axes of a slice become one.
Slices SliceRecorder::record_index_of_extreme(const Graph& graph, ValueId id,
                                              const Slices& operand) const {
  const Site site = site_of(graph.node(id));
  const ir::Shape& shape = graph.shape(graph.operands(id)[0]);
  const NodeRef flat = reshape_to(operand.node, {count_, ir::element_count(shape)}, site);
  ir::Attributes attributes;
  attributes.axes = {1};
  const NodeRef index = record(graph.op(id), {flat}, std::move(attributes), site);
  return {reshape_to(index, sliced(graph.shape(id)), site), true};
}

}  // namespace heddle::frontend
