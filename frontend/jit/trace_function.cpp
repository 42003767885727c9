#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/jit/jit_state.h"
#include "ir/base/span.h"
#include "runtime/profile/kernel_history.h"

namespace heddle::frontend {
namespace {

using Source = TracedFunction::Source;

ir::Dim dim_of(const SpecDim& dim, ir::Dim actual, const CallState::Input& input) {
  if (!dim.symbol.empty()) return ir::Dim::symbol(dim.symbol);
  if (dim.extent < 0) return actual;
  if (actual != ir::Dim(dim.extent)) {
    throw ShapeError(fmt::format("argument {}: an extent is {}, but JitOptions::dynamic says {}",
                                 input.argument, actual.to_string(), dim.extent));
  }
  return actual;
}

/// The call's input that is the trace's k-th array, or k-th scalar.
std::vector<std::uint32_t> inputs_of_kind(const CallState& call, bool scalars) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if ((call.inputs[i].kind == CallState::Input::Kind::scalar) == scalars) {
      result.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return result;
}

class GraphMaker {
 public:
  GraphMaker(const CallState& call, const Trace& trace, const std::vector<NodeRef>& results)
      : call_(call),
        trace_(trace),
        results_(results),
        order_(reachable(with_statuses(trace, results))),
        used_(order_.begin(), order_.end()) {}

  void make(TracedFunction& function) {
    add_parameters(function);
    for (Node* node : order_) {
      if (node->kind == Node::Kind::operation) {
        std::vector<ir::ValueId> operands;
        for (const NodeRef& operand : node->operands()) operands.push_back(value(*operand));
        values_[node] = function.graph.add(node->op, operands,
                                           node->attributes ? *node->attributes : ir::Attributes{},
                                           node->site.location);
      } else if (node->kind == Node::Kind::constant) {
        values_[node] = function.graph.constant(node->dtype, node->bits);
      }
    }
    function.assumptions = trace_.assumptions();
    for (const NodeRef& result : results_) function.results.push_back(source_of(*result, function));
    for (const Check& check : trace_.checks()) {
      function.graph.outputs.push_back(value(*check.status));
      function.checks.push_back({NodeRef(), check.message});
    }
  }

 private:
  static std::vector<NodeRef> with_statuses(const Trace& trace, std::vector<NodeRef> nodes) {
    for (const Check& check : trace.checks()) nodes.push_back(check.status);
    return nodes;
  }

  ir::ValueId value(const Node& node) const { return values_.at(const_cast<Node*>(&node)); }

  void add_parameters(TracedFunction& function) {
    const auto arrays = inputs_of_kind(call_, false), scalars = inputs_of_kind(call_, true);
    for (const Trace::Input& input : trace_.inputs()) {
      Node& node = *input.node;
      const bool used = used_.contains(&node);
      if (input.kind == Trace::Input::Kind::array) {
        if (!used && call_.inputs[arrays[input.argument]].hidden != nullptr) continue;
        function.parameters.push_back({Source::Kind::input, arrays[input.argument], node.dtype});
        values_[&node] = function.graph.parameter(node.dtype, node.shape, node.site.location);
      } else if (used && input.kind == Trace::Input::Kind::scalar) {
        function.parameters.push_back({Source::Kind::scalar, scalars[input.argument], node.dtype});
        values_[&node] = function.graph.scalar_parameter(node.dtype, node.site.location);
      } else if (used && input.kind == Trace::Input::Kind::draw) {
        function.parameters.push_back(
            {Source::Kind::draw, static_cast<std::uint32_t>(function.draws.size()), node.dtype});
        function.draws.push_back(trace_.draws()[input.argument]);
        values_[&node] = function.graph.scalar_parameter(node.dtype, node.site.location);
      } else if (used) {
        function.parameters.push_back({Source::Kind::capture,
                                       static_cast<std::uint32_t>(function.captures.size()),
                                       node.dtype});
        function.captures.push_back(trace_.captures()[input.argument]);
        function.capture_types.push_back({node.dtype, node.shape});
        values_[&node] = function.graph.parameter(node.dtype, node.shape, node.site.location);
      }
      if (values_.contains(&node)) {
        places_[&node] = static_cast<std::uint32_t>(function.parameters.size() - 1);
      }
    }
  }

  /// Arguments that are returned as they are need no program.
  Source source_of(const Node& node, TracedFunction& function) {
    if (node.kind == Node::Kind::parameter) {
      return function.parameters[places_.at(const_cast<Node*>(&node))];
    }
    std::vector<ir::ValueId>& outputs = function.graph.outputs;
    const ir::ValueId id = value(node);
    auto found = std::find(outputs.begin(), outputs.end(), id);
    if (found == outputs.end()) found = outputs.insert(outputs.end(), id);
    return {Source::Kind::output, static_cast<std::uint32_t>(found - outputs.begin()), node.dtype};
  }

  const CallState& call_;
  const Trace& trace_;
  const std::vector<NodeRef>& results_;
  std::vector<Node*> order_;
  std::unordered_set<const Node*> used_;
  std::unordered_map<Node*, ir::ValueId> values_;
  std::unordered_map<Node*, std::uint32_t> places_;  ///< among the parameters
};

}  // namespace

void resolve_types(const JitOptions& options, CallState& call) {
  std::size_t position = 0;
  for (CallState::Input& input : call.inputs) {
    if (input.kind == CallState::Input::Kind::scalar) continue;
    if (input.kind == CallState::Input::Kind::array) {
      input.type = {input.node->dtype, input.node->shape};
    }
    const std::size_t array = position++;
    if (array >= options.dynamic.size() || options.dynamic[array].empty()) continue;
    const SpecShape& dims = options.dynamic[array];
    if (dims.size() != input.type.shape.size()) {
      throw ShapeError(fmt::format("argument {} is {}, but JitOptions::dynamic gives {} extents",
                                   input.argument, ir::to_string(input.type), dims.size()));
    }
    if (input.kind == CallState::Input::Kind::spec) continue;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      input.type.shape[i] = dim_of(dims[i], input.type.shape[i], input);
    }
  }
}

TracedFunction trace_function(const JitOptions& options, const CallState& call,
                              const TraceBody& body) {
  runtime::watch_as_environment_says();
  const ir::Span span(ir::Phase::trace, options.name);
  TracedFunction function;
  function.graph.name = options.name;
  function.options.strict = options.strict;
  function.options.approximate = options.approximate;
  function.options.disabled = options.disable;
  Trace trace;
  std::vector<NodeRef> results;
  {
    const TraceScope scope(trace);
    const MatmulPrecision precision(options.matmul_precision);
    std::vector<Array> inputs, outputs;
    for (const CallState::Input& input : call.inputs) {
      const bool scalar = input.kind == CallState::Input::Kind::scalar;
      const NodeRef node = scalar ? trace.add_scalar(input.scalar) : trace.add_input(input.type);
      if (input.hidden != nullptr) trace.know(input.hidden, node);
      inputs.push_back(Access::make(node));
    }
    function.structure = body(inputs, outputs);
    for (const Array& output : outputs) {
      results.push_back(Access::node(output, SourceLocation()));
    }
  }
  ++counters().traces;
  GraphMaker(call, trace, results).make(function);
  return function;
}

}  // namespace heddle::frontend
