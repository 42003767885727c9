#include "frontend/control/bodies.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/graph/graph_builder.h"
#include "frontend/graph/record.h"
#include "ir/graph/generalize.h"

namespace heddle::frontend {

TracedBody::TracedBody(std::string_view op, const Function& function,
                       const std::vector<ir::Type>& inputs, const SourceLocation& where,
                       std::optional<std::pair<ir::Dim, ir::Dim>> counter)
    : trace_(std::make_unique<Trace>(Trace::current(), Trace::Purpose::region)) {
  const TraceScope scope(trace_.get());
  std::vector<Array> arrays;
  if (counter) arrays.push_back(Access::make(trace_->add_counter(counter->first, counter->second)));
  for (const ir::Type& type : inputs) arrays.push_back(Access::make(trace_->add_input(type)));
  for (const Array& result : function(std::move(arrays)))
    results_.push_back(Access::node(result, where));
  if (!trace_->draws().empty()) {
    throw TraceError(at(fmt::format("{}: its function draws random numbers, which would be the "
                                    "same in each step; draw them before, with an axis for the "
                                    "steps, and read one row in each step",
                                    op),
                        where));
  }
}

void TracedBody::set_result(std::size_t i, const std::function<NodeRef(const NodeRef&)>& change) {
  const TraceScope scope(trace_.get());
  results_[i] = change(results_[i]);
}

void TracedBody::carry_statuses(std::size_t carries) {
  const TraceScope scope(trace_.get());
  const std::vector<Check> checks = trace_->checks();
  carries_ = carries;
  statuses_ = checks.size();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Site& site = checks[i].status->site;
    const NodeRef before = trace_->add_input({DType::i64, {}});
    const NodeRef fine = record(ir::Op::less, {before, record_constant(DType::i64, 0)}, site);
    results_.insert(results_.begin() + static_cast<std::ptrdiff_t>(carries + i),
                    record(ir::Op::select, {fine, checks[i].status, before}, site));
  }
}

void TracedBody::ignore_inputs(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) trace_->add_input({DType::i64, {}});
}

void TracedBody::return_statuses(std::size_t before, std::size_t after) {
  const TraceScope scope(trace_.get());
  const auto add_none = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) results_.push_back(record_constant(DType::i64, -1));
  };
  add_none(before);
  for (const Check& check : trace_->checks()) results_.push_back(check.status);
  add_none(after);
}

namespace {

/// The value that a region captured, in the trace around it.
NodeRef value_outside(const CellRef& cell) {
  Trace* const outer = Trace::current();
  const bool captured = outer != nullptr && outer->is_outside(*cell->node);
  return captured ? outer->capture(cell.get()) : cell->node;
}

}  // namespace

ir::Region TracedBody::region(const std::vector<NodeRef>& outside) const {
  GraphBuilder builder;
  const auto add_unused = [&](DType dtype, const ir::Shape& shape) {
    builder.graph.parameter(dtype, shape);
  };
  for (const Trace::Input& input : trace_->inputs()) {
    if (input.kind != Trace::Input::Kind::counter) continue;
    const ir::Type extent = ir::extent_argument(trace_->counter()->symbol);
    add_unused(extent.dtype, extent.shape);
    builder.add_scalar(*input.node);
  }
  for (const NodeRef& value : outside) {
    const Node* first = nullptr;  // several variables may hold one value
    for (const Trace::Input& input : trace_->inputs()) {
      const bool is_value = input.kind == Trace::Input::Kind::capture &&
                            value_outside(trace_->captures()[input.argument]) == value;
      if (!is_value) continue;
      first == nullptr ? builder.add_array(*input.node) : builder.add_alias(*input.node, *first);
      first = input.node.get();
    }
    if (first == nullptr) add_unused(value->dtype, value->shape);
  }
  std::vector<const Node*> inputs;
  for (const Trace::Input& input : trace_->inputs()) {
    if (input.kind == Trace::Input::Kind::array) inputs.push_back(input.node.get());
  }
  std::rotate(inputs.begin() + static_cast<std::ptrdiff_t>(carries_),
              inputs.end() - static_cast<std::ptrdiff_t>(statuses_), inputs.end());
  for (const Node* const input : inputs) builder.add_array(*input);
  for (const Node* const node : reachable(results_)) {
    if (node->kind == Node::Kind::operation) builder.add_operation(*node);
    if (node->kind == Node::Kind::constant) builder.add_constant(*node);
  }
  std::vector<std::uint32_t> numbers;
  for (const NodeRef& result : results_) numbers.push_back(builder.add_output(*result));
  std::vector<ir::ValueId> outputs;
  for (const std::uint32_t number : numbers) outputs.push_back(builder.graph.outputs[number]);
  builder.graph.outputs = std::move(outputs);
  return ir::make_region(std::move(builder.graph));
}

namespace {

void add_values(const TracedBody& body, std::vector<NodeRef>& values) {
  for (const CellRef& cell : body.captures()) {
    NodeRef value = value_outside(cell);
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
}

}  // namespace

std::vector<NodeRef> outside_values(std::initializer_list<const TracedBody*> bodies) {
  std::vector<NodeRef> values;
  for (const TracedBody* const body : bodies) add_values(*body, values);
  return values;
}

std::vector<NodeRef> outside_values(const std::vector<TracedBody>& bodies) {
  std::vector<NodeRef> values;
  for (const TracedBody& body : bodies) add_values(body, values);
  return values;
}

}  // namespace heddle::frontend
