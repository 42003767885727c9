#include <algorithm>

#include "heddle/jit.h"

#include "frontend/jit/extent_choices.h"
#include "frontend/jit/jit_state.h"

namespace heddle::frontend {
namespace {

using Source = TracedFunction::Source;

/// Describes what the program depends on besides its arguments; "" for nothing.
std::string extra_dependencies(const TracedFunction& function, const CallState& call) {
  for (const Source& source : function.parameters) {
    const bool hidden =
        source.kind == Source::Kind::input && call.inputs[source.index].hidden != nullptr;
    if (hidden || source.kind == Source::Kind::capture) return "an array that is not an argument";
    if (source.kind == Source::Kind::draw) return "a generator of random numbers";
  }
  return function.assumptions.empty() ? "" : "the value of an integer among the arguments";
}

}  // namespace

std::shared_ptr<const LoweredState> lower(JitState& state, Call& call, const TraceBody& body) {
  TracedFunction function = trace_call(state.options, *call.state, body);
  for (const Source& source : function.parameters) {
    function.options.donated.push_back(source.kind == Source::Kind::input &&
                                       call.state->inputs[source.index].donate);
  }
  // Arguments that are returned unchanged count as outputs here.
  std::vector<ir::ValueId> outputs;
  for (const Source& source : function.results) {
    if (source.kind == Source::Kind::output) {
      outputs.push_back(function.graph.outputs[source.index]);
      continue;
    }
    const auto place = std::find_if(
        function.parameters.begin(), function.parameters.end(), [&](const Source& parameter) {
          return parameter.kind == source.kind && parameter.index == source.index &&
                 parameter.dtype == source.dtype;
        });
    outputs.push_back(
        function.graph.parameters()[static_cast<std::size_t>(place - function.parameters.begin())]);
  }
  function.graph.outputs = std::move(outputs);
  auto lowered = std::make_shared<LoweredState>();
  lowered->extra_dependencies = extra_dependencies(function, *call.state);
  lowered->arguments = call.state->inputs.size();
  for (const Source& source : function.parameters) lowered->sources.push_back(source.index);
  lowered->names = call.state->names;
  lowered->names.resize(lowered->arguments);
  lowered->graph = std::move(function.graph);
  lowered->options = std::move(function.options);
  return lowered;
}

}  // namespace heddle::frontend
