#include "passes/calls/sort.h"

#include <algorithm>
#include <numeric>

#include "ir/types/capabilities.h"
#include "passes/calls/bytes.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

ValueId permuted(Graph& graph, ValueId value, std::vector<std::int64_t> axes,
                 ir::Location location) {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return graph.add(Op::transpose, {value}, attributes, location);
}

std::int64_t axis_of(const ir::CallData& sort) { return sort.get<std::int64_t>("axis"); }

}  // namespace

std::vector<ValueId> lower_sort(Graph& graph, const OldCall& call, const ir::Target&) {
  const ValueId operand = call.operands[0];
  const ir::Shape shape = graph.shape(operand);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = axis_of(call.data());
  const ir::CallOp& op = *call.data().op;
  if (shape[axis] == Dim(1)) {
    const bool keys = &op == &ir::calls::sort();
    return {keys ? operand : filled(graph, call.graph.type(call.node), 0)};
  }
  // The axes after it have extent 1, so rows are contiguous anyway.
  if (is_single({shape.begin() + axis + 1, shape.end()}))
    return {copy_node(graph, call.graph, call.node, {operand})};
  std::vector<std::int64_t> order(shape.size()), inverse(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  for (std::int64_t i = 0; i < rank; ++i) inverse[order[i]] = i;
  const ValueId rows = permuted(graph, operand, order, call.location());
  const ValueId sorted =
      graph.add(Op::call, {rows}, ir::call_attributes(op, {{"axis", rank - 1}}), call.location());
  return {permuted(graph, sorted, inverse, call.location())};
}

namespace {

SortCall sort_of_call(const Graph& graph, ValueId node) {
  const ir::Shape& shape = graph.shape(node);
  SortCall sort;
  sort.dtype = graph.dtype(graph.operands(node)[0]);
  sort.indices = graph.is_call_of(node, ir::calls::argsort());
  const std::int64_t axis = axis_of(*graph.attributes(node).call);
  sort.rows = ir::element_count({shape.begin(), shape.begin() + axis});
  sort.length = shape[axis];
  return sort;
}

}  // namespace

DescribedCall describe_sort(CallBuilder& builder) {
  const Graph& graph = builder.graph;
  SortCall sort = sort_of_call(graph, builder.call);
  sort.keys = builder.array(arrays_read(graph, builder.call, builder.target)[0]).buffer;
  sort.out = builder.result(0).buffer;
  if (ir::capabilities_of(builder.target.target).kernel_sorts) {
    SortPlans plans = plan_sort(sort, builder.target.target, builder.disabled());
    std::vector<std::uint32_t> kernels;
    for (KernelPlan& plan : plans.kernels) kernels.push_back(builder.kernel(std::move(plan)));
    for (SortKernels::Kernel& kernel : plans.launch.kernels) kernel.kernel = kernels[kernel.kernel];
    sort.kernels = std::move(plans.launch);
  }
  for (const Dim bytes : scratch_bytes(sort)) sort.scratch.push_back(builder.scratch(bytes));
  return {to_call(sort), array_bytes(graph, builder.call) + extra_bytes(sort)};
}

}  // namespace heddle::passes
