#include <algorithm>
#include <climits>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/jit/jit_state.h"
#include "frontend/jit/key_writer.h"
#include "runtime/base/per_thread.h"

namespace heddle::frontend {
namespace {

/// The state of a finished call, reused by the thread's next call. Nested calls allocate their own.
std::unique_ptr<CallState>& spare_state() {
  return runtime::per_thread<std::unique_ptr<CallState>>();
}

std::unique_ptr<CallState> take_state() {
  std::unique_ptr<CallState> state = std::move(spare_state());
  return state ? std::move(state) : std::make_unique<CallState>();
}

void clear(CallState& state) {
  state.inputs.clear();
  state.key.clear();
  state.results.clear();
  state.next_result = 0;
  state.function.reset();
  state.positions = 0;
  state.candidates.clear();
  state.captured.clear();
  state.arguments.clear();
  state.values.clear();
  state.nodes.clear();
  state.names.clear();
}

}  // namespace

Call::Call(const void* types) : state(take_state()) { state->types = types; }
Call::~Call() {
  // The call failed; launch() leaves no inputs.
  for (const CallState::Input& input : state->inputs) {
    if (input.taken != nullptr) Access::put(*input.taken, input.node);
  }
  clear(*state);
  spare_state() = std::move(state);
}

bool Call::begin_argument(const JitState& jit, int position) {
  state->argument = position;
  state->positions = position < 0 ? INT_MAX : std::max(state->positions, position + 1);
  const std::vector<int>& donate = jit.options.donate;
  state->donate = std::find(donate.begin(), donate.end(), position) != donate.end();
  return state->donate;
}

void Call::array(const Array& array) {
  CallState::Input& input = state->inputs.emplace_back();
  input.node = Access::node(array, SourceLocation());
  input.donate = state->donate;
  input.argument = state->argument;
}

void Call::hidden(const Array& array) {
  Call::array(array);
  state->inputs.back().hidden = Access::cell(array);
}

void Call::take(Array& array) {
  Call::array(array);
  CallState::Input& input = state->inputs.back();
  input.donate = true;
  input.taken = &array;
  static_cast<void>(Access::take(array));
}

void Call::scalar(Scalar value) {
  CallState::Input& input = state->inputs.emplace_back();
  input.kind = CallState::Input::Kind::scalar;
  input.scalar = value;
  input.argument = state->argument;
}

void Call::spec(const Spec& spec) {
  CallState::Input& input = state->inputs.emplace_back();
  input.kind = CallState::Input::Kind::spec;
  input.donate = state->donate;
  input.argument = state->argument;
  input.type.dtype = spec.dtype;
  for (const SpecDim& dim : spec.shape) {
    if (dim.symbol.empty() && dim.extent < 0) {
      throw ShapeError("spec: an extent must be a non-negative number or a name");
    }
    input.type.shape.push_back(dim.symbol.empty() ? ir::Dim(dim.extent) : named_extent(dim.symbol));
  }
  if (spec.name.find('\n') != std::string::npos)
    throw ValueError("spec: a name is one line of text");
  if (spec.name.empty()) return;
  state->names.resize(state->inputs.size());
  state->names.back() = spec.name;
}

void Call::name_inputs(std::vector<std::string> names) {
  for (std::string& name : names) std::replace(name.begin(), name.end(), '\n', ' ');
  state->names = std::move(names);
}

void Call::plain(const void* bytes, std::size_t count) {
  KeyWriter(state->key, sizeof(count)).add(count);
  if (count > 0) state->key.append(static_cast<const char*>(bytes), count);
}

Array Call::next_result() {
  return Access::make(std::move(state->results.at(state->next_result++)));
}

bool tracing() { return Trace::current() != nullptr; }

Array weak_array(Scalar value) {
  const DType dtype = default_dtype(value);
  const NodeRef node = record_scalar(dtype, scalar_bits("jit", value, dtype, Site()), true);
  node->weak = true;
  return Access::make(node);
}

}  // namespace heddle::frontend
