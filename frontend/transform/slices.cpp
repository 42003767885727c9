#include "frontend/transform/slices.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/control.h"
#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "ir/calls/calls.h"
#include "ir/calls/collective.h"
#include "ir/calls/user_map.h"

namespace heddle::frontend {

using ir::Graph;
using ir::Op;
using ir::OpKind;
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

/// Whether the op reads all of some operand that varies, so that it takes no axis of slices.
bool reads_whole_slices(const Graph& graph, ValueId id, const std::vector<Slices>& operands) {
  switch (ir::kind_of(graph.op(id))) {
    case OpKind::search:
      return operands[0].varies;
    case OpKind::reduction:  // all slices have the same segments
      return std::any_of(operands.begin() + 1, operands.end(),
                         [](const Slices& value) { return value.varies; });
    case OpKind::call: {
      if (!graph.is_call_of(id, ir::calls::user_map())) return false;
      const ir::CallData& call = *graph.attributes(id).call;
      for (std::size_t k = 0; k < operands.size(); ++k)
        if (operands[k].varies && ir::is_raw_operand(call, k)) return true;
      return false;
    }
    default:
      return false;
  }
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
  ir::Attributes attributes = graph.attributes(id);
  if (graph.op(id) == Op::call) {
    const ir::CallData& call = *attributes.call;
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
  if (reads_whole_slices(graph, id, operands)) return record_in_a_loop(graph, id, operands);
  if (ir::finds_index(graph.op(id)) && attributes.axes.size() != 1)
    return {record_index_of_extreme(graph, id, operands[0])};
  add_slices(graph, id, operands, attributes);
  Results results;
  for (NodeRef& node : record_op(graph.op(id), nodes_of(operands), std::move(attributes), site))
    results.push_back({std::move(node), true});
  return results;
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

/// Changes the operands and attributes of an op to those for all slices.
void SliceRecorder::add_slices(const Graph& graph, ValueId id, std::vector<Slices>& operands,
                               ir::Attributes& attributes) const {
  const Site site = site_of(graph.node(id));
  const std::size_t rank = graph.shape(id).size();
  const auto align_all = [&] {
    for (Slices& operand : operands) align_slices(operand, rank, site);
  };
  const auto repeat_all = [&] {
    for (Slices& operand : operands) operand.node = with_slices(operand, site);
  };
  for (std::int64_t& axis : attributes.axes) ++axis;
  switch (ir::kind_of(graph.op(id))) {
    case OpKind::source:
    case OpKind::elementwise:
      return align_all();
    case OpKind::view:
      return add_slices_to_view(graph, id, operands[0], attributes);
    case OpKind::piecewise:
      if (graph.op(id) == Op::slice_update) {
        // A scalar is written to every element.
        align_slices(operands[1], attributes.shape.size(), site);
        operands[1] = {broadcast_to_shape(operands[1].node, sliced(attributes.shape), site), true};
        add_region(attributes);
      }
      return repeat_all();
    case OpKind::gather:
      if (!operands[0].varies) operands[0].node = with_one_slice(operands[0].node, site);
      return align_all();
    case OpKind::scatter:
      attributes.shape = sliced(attributes.shape);
      return align_all();
    case OpKind::reduction:
      operands[0].node = with_slices(operands[0], site);
      return;
    case OpKind::scan:
      return repeat_all();
    case OpKind::call:
      return add_slices_to_call(graph, id, operands, attributes);
    case OpKind::search:
      return;
  }
}

void SliceRecorder::add_slices_to_view(const Graph& graph, ValueId id, Slices& operand,
                                       ir::Attributes& attributes) const {
  switch (graph.op(id)) {
    case Op::transpose:
      attributes.axes.insert(attributes.axes.begin(), 0);
      break;
    case Op::slice:
      add_region(attributes);
      break;
    case Op::broadcast_to:
      align_slices(operand, graph.shape(id).size(), site_of(graph.node(id)));
      attributes.shape = sliced(attributes.shape);
      break;
    default:
      attributes.shape = sliced(attributes.shape);
  }
}

/// The axis of slices becomes a further batch axis of each operand. Axes named by attributes are
/// shifted by one.
void SliceRecorder::add_slices_to_call(const Graph& graph, ValueId id,
                                       std::vector<Slices>& operands,
                                       ir::Attributes& attributes) const {
  const Site site = site_of(graph.node(id));
  if (graph.is_call_of(id, ir::calls::user_map())) {
    for (Slices& operand : operands) align_slices(operand, graph.shape(id).size(), site);
    return;
  }
  const ir::CallOp& op = *attributes.call->op;
  if (ir::broadcasts_batches(op)) {
    std::size_t rank = 0;
    for (const ValueId operand : graph.operands(id))
      rank = std::max(rank, graph.shape(operand).size());
    for (Slices& operand : operands) align_slices(operand, rank, site);
    return;
  }
  for (Slices& operand : operands) operand.node = with_slices(operand, site);
  ir::CallData data = *attributes.call;
  for (std::size_t i = 0; i < data.attributes.size(); ++i) {
    if (op.attributes[i].is_axis) ++std::get<std::int64_t>(data.attributes[i]);
  }
  attributes.call = ir::CallRef(std::move(data));
}

void SliceRecorder::add_region(ir::Attributes& attributes) const {
  attributes.starts.insert(attributes.starts.begin(), ir::Dim(0));
  attributes.steps.insert(attributes.steps.begin(), 1);
  attributes.shape = sliced(attributes.shape);
}

}  // namespace heddle::frontend
