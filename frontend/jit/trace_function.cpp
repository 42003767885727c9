#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/graph_builder.h"
#include "frontend/graph/record.h"
#include "frontend/jit/jit_state.h"
#include "ir/base/span.h"
#include "runtime/profile/kernel_history.h"

namespace heddle::frontend {
namespace {

using Source = TracedFunction::Source;

ir::Dim dim_of(const SpecDim& dim, ir::Dim actual, const CallState::Input& input) {
  if (!dim.symbol.empty()) return named_extent(dim.symbol);
  if (dim.extent < 0) return actual;
  if (actual != ir::Dim(dim.extent)) {
    throw ShapeError(fmt::format("argument {}: an extent is {}, but JitOptions::dynamic says {}",
                                 input.argument, actual.to_string(), dim.extent));
  }
  return actual;
}

/// Maps the trace's k-th array (or k-th scalar) to the index of the call's input.
std::vector<std::uint32_t> inputs_of_kind(const CallState& call, bool scalars) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if ((call.inputs[i].kind == CallState::Input::Kind::scalar) == scalars) {
      result.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return result;
}

/// Builds the program of a trace.
class TraceProgram {
 public:
  TraceProgram(const CallState& call, const Trace& trace, const std::vector<NodeRef>& results)
      : call_(call),
        trace_(trace),
        results_(results),
        order_(reachable(with_statuses(trace, results))),
        used_(order_.begin(), order_.end()) {}

  void make(TracedFunction& function) {
    builder_.graph.name = function.graph.name;
    add_parameters(function);
    for (const Node* const node : order_) {
      if (node->kind == Node::Kind::operation) {
        builder_.add_operation(*node);
      } else if (node->kind == Node::Kind::constant) {
        builder_.add_constant(*node);
      }
    }
    function.assumptions = trace_.assumptions();
    function.held_values = trace_.held_values();
    for (const NodeRef& result : results_) function.results.push_back(source_of(*result, function));
    for (const Check& check : trace_.checks())
      function.statuses.push_back({builder_.add_output(*check.status), check.message, check.kind});
    function.graph = std::move(builder_.graph);
  }

 private:
  static std::vector<NodeRef> with_statuses(const Trace& trace, std::vector<NodeRef> nodes) {
    for (const Check& check : trace.checks()) nodes.push_back(check.status);
    return nodes;
  }

  void add_parameters(TracedFunction& function) {
    const auto arrays = inputs_of_kind(call_, false), scalars = inputs_of_kind(call_, true);
    for (const Trace::Input& input : trace_.inputs()) {
      const Node& node = *input.node;
      const bool used = used_.contains(&node);
      const auto add = [&](Source::Kind kind, std::size_t index) {
        places_[&node] = static_cast<std::uint32_t>(function.parameters.size());
        function.parameters.push_back({kind, static_cast<std::uint32_t>(index), node.dtype});
        const bool array = kind == Source::Kind::input || kind == Source::Kind::capture;
        array ? builder_.add_array(node) : builder_.add_scalar(node);
      };
      if (input.kind == Trace::Input::Kind::array) {
        const std::uint32_t place = arrays[input.argument];
        if (used || call_.inputs[place].hidden == nullptr) add(Source::Kind::input, place);
      } else if (used && input.kind == Trace::Input::Kind::scalar) {
        add(Source::Kind::scalar, scalars[input.argument]);
      } else if (used && input.kind == Trace::Input::Kind::draw) {
        add(Source::Kind::draw, function.draws.size());
        function.draws.push_back(trace_.draws()[input.argument]);
      } else if (used) {
        add(Source::Kind::capture, function.captures.size());
        function.captures.push_back(trace_.captures()[input.argument]);
        function.capture_types.push_back({node.dtype, node.shape});
      }
    }
  }

  /// Arguments that are returned unchanged need no program.
  Source source_of(const Node& node, const TracedFunction& function) {
    if (node.kind == Node::Kind::parameter) return function.parameters[places_.at(&node)];
    return {Source::Kind::output, builder_.add_output(node), node.dtype};
  }

  const CallState& call_;
  const Trace& trace_;
  const std::vector<NodeRef>& results_;
  std::vector<Node*> order_;
  std::unordered_set<const Node*> used_;
  GraphBuilder builder_;
  std::unordered_map<const Node*, std::uint32_t> places_;  ///< indices of parameters
};

}  // namespace

ir::Dim named_extent(const std::string& name) {
  if (name.find_first_of("+*") == std::string::npos) return ir::Dim::symbol(name);
  try {
    return ir::Dim::parse(name);
  } catch (const ParseError& error) {
    throw ValueError(fmt::format("the name of an extent, \"{}\": {}", name, error.what()));
  }
}

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
                                   input.argument, ir::describe(input.type), dims.size()));
    }
    if (input.kind == CallState::Input::Kind::spec) continue;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      input.type.shape[i] = dim_of(dims[i], input.type.shape[i], input);
    }
  }
}

namespace {

void check_donate(const JitOptions& options, const CallState& call) {
  for (const int position : options.donate) {
    if (position < call.positions) continue;
    throw ValueError(fmt::format(
        "jit {}: donate contains position {}, but the call has {} arguments, counted from 0",
        options.name, position, call.positions));
  }
}

}  // namespace

TracedFunction trace_function(const JitOptions& options, const CallState& call,
                              const TraceBody& body) {
  runtime::start_requested_observers();
  check_donate(options, call);
  const ir::Span span(ir::Phase::trace, options.name);
  TracedFunction function;
  function.graph.name = options.name;
  function.options.strict = options.strict;
  function.options.approximate = options.approximate;
  function.options.disabled = options.disable;
  Trace trace;
  std::vector<NodeRef> results;
  {
    const TraceScope scope(&trace);
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
  TraceProgram(call, trace, results).make(function);
  return function;
}

}  // namespace heddle::frontend
