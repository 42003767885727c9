#include "heddle/jit.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/graph_walk.h"
#include "frontend/graph/hash_combiner.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/jit/extent_choices.h"
#include "frontend/jit/jit_state.h"
#include "frontend/jit/key_writer.h"
#include "frontend/linalg/failures.h"
#include "passes/pipeline/pipeline.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/backend.h"
#include "runtime/execute/call_site.h"

namespace heddle::frontend {
namespace {

using Source = TracedFunction::Source;
using Input = CallState::Input;

/// True if the call may reuse the array's memory, because it holds the only reference.
bool can_donate(const Input& input) {
  return input.taken != nullptr && input.node->unique() && input.node->value.buffer.unique() &&
         input.node->value.buffer->pooled();
}

runtime::Device device_of(const runtime::DeviceArray& array) { return array.buffer->device(); }

/// A number that is unique to the device.
std::int32_t number_of(runtime::Device device) {
  constexpr int ordinal_bits = 16;
  return static_cast<std::int32_t>(device.kind) << ordinal_bits | device.ordinal;
}

/// Hash of everything that determines what is traced and compiled, except captures.
ir::Hash128 signature(const JitOptions& options, CallState& call, runtime::Device device) {
  struct Call {
    const void* types;
    std::int32_t device, ordinal;
    std::uint64_t precision, ignores_failures;
  };
  struct Facts {
    std::uint8_t kind, dtype, donated, aligned;
    std::int32_t device;
    std::uint32_t rank;
  };
  const auto shape_of = [&](const Input& input) -> const ir::Shape& {
    return options.dynamic.empty() && input.kind == Input::Kind::array ? input.node->shape
                                                                       : input.type.shape;
  };
  std::size_t bytes = sizeof(Call) + call.inputs.size() * sizeof(Facts);
  for (const Input& input : call.inputs) bytes += shape_of(input).size() * sizeof(ir::Dim);
  KeyWriter key(call.key, bytes);
  key.add(Call{call.types, static_cast<std::int32_t>(device.kind), device.ordinal,
               static_cast<std::uint64_t>(options.matmul_precision.value_or(matmul_precision())),
               ignores_failures() ? 1U : 0U});
  for (const Input& input : call.inputs) {
    const auto kind = static_cast<std::uint8_t>(input.kind);
    if (input.kind == Input::Kind::scalar) {
      key.add(Facts{kind, static_cast<std::uint8_t>(input.scalar.kind), 0, 0, 0, 0});
      continue;
    }
    const ir::Shape& shape = shape_of(input);
    key.add(Facts{kind, static_cast<std::uint8_t>(input.node->dtype), input.donated,
                  is_aligned(input.node->value), number_of(device_of(input.node->value)),
                  static_cast<std::uint32_t>(shape.size())});
    for (const ir::Dim extent : shape) key.add(extent);
  }
  return ir::hash_of(call.key);
}

/// Collects the current values of the function's captured arrays.
void take_captures(CallState& call, const TracedFunction& function) {
  call.captured.clear();
  for (const CellRef& cell : function.captures) call.captured.push_back(cell->node);
}

/// False if a captured array's dtype, shape, alignment or device has changed since the trace.
bool captures_fit(const TracedFunction& function, const std::vector<NodeRef>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeRef& node = nodes[i];
    if (node->dtype != function.capture_types[i].dtype ||
        node->shape != function.capture_types[i].shape ||
        is_aligned(node->value) != function.capture_aligned[i] ||
        !(device_of(node->value) == function.capture_devices[i])) {
      return false;
    }
  }
  return true;
}

/// False if a number is on another side of a dtype's range than when it was traced, or a variable
/// holds another value.
bool assumptions_hold(const TracedFunction& function, const CallState& call) {
  if (!std::ranges::all_of(function.held_values, &Trace::HeldValue::holds)) return false;
  if (function.assumptions.empty()) return true;
  std::vector<Scalar> scalars;
  for (const Input& input : call.inputs) {
    if (input.kind == Input::Kind::scalar) scalars.push_back(input.scalar);
  }
  return std::all_of(
      function.assumptions.begin(), function.assumptions.end(),
      [&](const Trace::Assumption& assumption) { return assumption.holds(scalars); });
}

bool all_hold_something(const std::vector<NodeRef>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const NodeRef& node) { return bool(node); });
}

/// True if no call can match it again, because a captured array was destroyed, or has changed.
bool is_dead(const std::shared_ptr<const TracedFunction>& function) {
  if (!std::ranges::all_of(function->held_values, &Trace::HeldValue::holds)) return true;
  return std::any_of(function->captures.begin(), function->captures.end(), [](const CellRef& cell) {
    return cell->abandoned.load(std::memory_order_relaxed);
  });
}

class Launch {
 public:
  Launch(JitState& state, CallState& call) : state_(state), call_(call) {}

  std::shared_ptr<const TracedFunction> run(const TraceBody& body) {
    evaluate_inputs();
    if (!state_.options.dynamic.empty()) resolve_types(state_.options, call_);
    const runtime::Device device = choose_device();
    for (Input& input : call_.inputs) input.donated = check_donation(input);
    const ir::Hash128 key = signature(state_.options, call_, device);
    std::shared_ptr<const TracedFunction> function = find(key);
    if (!function) {
      const std::unique_lock lock = runtime::lock_or_interrupt(state_.tracing);
      function = find(key);
      if (!function) function = make(key, body, device);
    }
    execute(*function);
    return function;
  }

 private:
  void evaluate_inputs() {
    std::vector<NodeRef> pending;
    for (const Input& input : call_.inputs) {
      if (input.kind == Input::Kind::spec) {
        throw ValueError("a spec has no data; give it to lower(), or call with an array");
      }
      if (input.kind == Input::Kind::array && !input.node->evaluated()) {
        pending.push_back(input.node);
      }
    }
    if (pending.empty()) return;
    evaluate(pending);
    note_explicit_evaluation();
  }

  /// The device of the first argument. A captured array is ignored, as the function may not use it.
  runtime::Device choose_device() const {
    for (const Input& input : call_.inputs) {
      if (input.kind == Input::Kind::array && input.hidden == nullptr)
        return device_of(input.node->value);
    }
    return runtime::current_device();
  }

  /// The device of the first array that the function uses.
  runtime::Device device_for(const TracedFunction& function, runtime::Device otherwise) const {
    for (const Source& source : function.parameters) {
      if (!source.by_value()) return device_of(node_of(source)->value);
    }
    return otherwise;
  }

  bool check_donation(const Input& input) {
    if (!input.donate || can_donate(input)) return input.donate;
    report(input, input.taken == nullptr ? "cannot be reused: it is const at the call"
                                         : "cannot be reused: other arrays share its value");
    return false;
  }

  /// Reported once per function. It is a warning only for JitOptions::donate, since a temporary may
  /// be passed without the wish to donate.
  void report(const Input& input, std::string_view why) {
    const std::vector<int>& asked = state_.options.donate;
    const bool option = std::find(asked.begin(), asked.end(), input.argument) != asked.end();
    std::call_once(option ? state_.donation_reported : state_.move_reported, [&] {
      runtime::log().log(option ? spdlog::level::warn : spdlog::level::info,
                         "jit {}: donated argument {} {}", state_.options.name, input.argument,
                         why);
    });
  }

  std::shared_ptr<const TracedFunction> find(const ir::Hash128& key) {
    {
      const std::lock_guard lock(state_.mutex);
      const auto* const found = state_.functions.find(key);
      if (found == nullptr) return nullptr;
      call_.candidates.assign(found->begin(), found->end());
    }
    for (auto& candidate : call_.candidates) {
      if (!assumptions_hold(*candidate, call_)) continue;
      if (!candidate->extents->hold(state_.options, call_)) continue;
      take_captures(call_, *candidate);
      // Tracing again either finds the array's new value, or throws at the line that reads it.
      if (!all_hold_something(call_.captured)) continue;
      evaluate_captures();
      if (captures_fit(*candidate, call_.captured)) return std::move(candidate);
    }
    return nullptr;
  }

  void evaluate_captures() {
    if (std::any_of(call_.captured.begin(), call_.captured.end(),
                    [](const NodeRef& node) { return !node->evaluated(); })) {
      evaluate(call_.captured);
      note_explicit_evaluation();
    }
  }

  std::shared_ptr<const TracedFunction> make(const ir::Hash128& key, const TraceBody& body,
                                             runtime::Device device) {
    auto function = std::make_shared<TracedFunction>(trace_call(state_.options, call_, body));
    take_captures(call_, *function);
    if (!all_hold_something(call_.captured)) {
      throw ValueError("a jitted function destroyed a captured array that it has read");
    }
    evaluate_captures();
    for (const NodeRef& node : call_.captured) {
      function->capture_aligned.push_back(is_aligned(node->value));
      function->capture_devices.push_back(device_of(node->value));
    }
    function->device = device_for(*function, device);
    for (const Source& source : function->parameters) {
      function->options.donated.push_back(source.kind == Source::Kind::input &&
                                          call_.inputs[source.index].donated &&
                                          !returned(*function, source));
      function->options.aligned.push_back(source.by_value() || is_aligned(node_of(source)->value));
    }
    if (!function->graph.outputs.empty()) {
      runtime::SiteProgram program = runtime::executable_for_site(
          state_.place, function->graph, function->options, function->device);
      function->executable = std::move(program.executable);
      function->extras = std::move(program.extras);
      function->general = std::move(program.general);
      ++counters().programs;
      report_unused_donations(*function);
    }
    const std::lock_guard lock(state_.mutex);
    std::vector<std::shared_ptr<const TracedFunction>>& functions = state_.functions[key];
    std::erase_if(functions, is_dead);
    functions.push_back(function);
    return function;
  }

  static bool returned(const TracedFunction& function, const Source& source) {
    return std::any_of(function.results.begin(), function.results.end(), [&](const Source& result) {
      return result.kind == Source::Kind::input && result.index == source.index;
    });
  }

  void report_unused_donations(const TracedFunction& function) {
    const auto& outputs = function.executable->program().outputs;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      if (!function.options.donated[i]) continue;
      const bool used = std::any_of(outputs.begin(), outputs.end(), [&](const auto& output) {
        return output.input && *output.input == i;
      });
      if (used) continue;
      report(call_.inputs[function.parameters[i].index], "is not used: no result fits its memory");
    }
  }

  const NodeRef& node_of(const Source& source) const {
    return source.kind == Source::Kind::capture ? call_.captured[source.index]
                                                : call_.inputs[source.index].node;
  }

  void execute(const TracedFunction& function) {
    if (function.executable) launch(function, runtime::Stream::current(function.device));
    for (runtime::DeviceArray& value : call_.values)
      call_.nodes.push_back(array_node(std::move(value)));
    if (!function.statuses.empty()) check(function);
    for (const Source& source : function.results) {
      if (source.kind == Source::Kind::output) {
        call_.results.push_back(call_.nodes[source.index]);
      } else if (source.kind == Source::Kind::scalar) {
        const runtime::DeviceScope scope(function.device);
        const ir::ElementBits bits = scalar_of(source).bits;
        call_.results.push_back(upload(&bits, {source.dtype, {}}));
      } else {
        call_.results.push_back(node_of(source));
      }
    }
  }

  void check(const TracedFunction& function) {
    if (is_captured(function.device)) return;
    std::vector<const Node*> results;
    for (const Source& source : function.results) {
      if (source.kind == Source::Kind::output) results.push_back(call_.nodes[source.index].get());
    }
    for (const TracedFunction::Status& status : function.statuses)
      check_later({call_.nodes[status.output], status.message, status.kind}, results);
  }

  runtime::ScalarArgument scalar_of(const Source& source) const {
    const Scalar& scalar = call_.inputs[source.index].scalar;
    return {source.dtype, scalar_bits("scalar argument", scalar, source.dtype, Site())};
  }

  /// A donated array and its memory belong only to the call until the inputs are released.
  void launch(const TracedFunction& function, runtime::Stream stream) {
    for (const Source& source : function.parameters) {
      runtime::ArgumentView& argument = call_.arguments.emplace_back();
      if (source.kind == Source::Kind::scalar)
        argument.scalar = scalar_of(source);
      else if (source.kind == Source::Kind::draw)
        argument.scalar = {source.dtype, function.draws[source.index]->next_sample_key()};
      else
        argument.array = &node_of(source)->value;
    }
    for (const runtime::Argument& extra : function.extras)
      call_.arguments.push_back(runtime::view_of(extra));
    const ir::Graph& lines = function.general ? *function.general : function.graph;
    const runtime::InterruptibleRun run(runtime::capabilities_of(stream.device()).host_memory);
    function.executable->run(call_.arguments, stream, call_.values, &lines);
    ++counters().evaluations;
  }

  JitState& state_;
  CallState& call_;
};

}  // namespace

std::shared_ptr<JitState> make_jit_state(JitOptions options) {
  static std::atomic<std::uint64_t> count{0};
  passes::require_switches(options.disable, fmt::format("jit {}: disable", options.name));
  for (const int position : options.donate) {
    if (position >= 0) continue;
    throw ValueError(
        fmt::format("jit {}: donate: {} is not an argument position; positions are counted from 0",
                    options.name, position));
  }
  auto state = std::make_shared<JitState>();
  state->options = std::move(options);
  state->place = HashCombiner().number(count.fetch_add(1, std::memory_order_relaxed)).finish();
  return state;
}

std::optional<Precision> precision_of(const JitState& state) {
  return state.options.matmul_precision;
}

const void* launch(JitState& state, Call& call, const TraceBody& body) {
  call.state->function = Launch(state, *call.state).run(body);
  // Release everything that was read, so that a result that reuses a donated array's memory is its
  // only owner.
  call.state->arguments.clear();
  call.state->inputs.clear();
  call.state->captured.clear();
  call.state->nodes.clear();
  return call.state->function->structure.get();
}

}  // namespace heddle::frontend
