#include "heddle/program.h"

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/graph_walk.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "runtime/base/interrupt.h"
#include "runtime/device/backend.h"
#include "runtime/device/stream.h"
#include "runtime/execute/saved_program.h"
#include "runtime/launch/capture.h"

namespace heddle {

namespace frontend {

struct ProgramState {
  runtime::SavedProgram saved;
  std::string path;
  const ir::Graph& graph() const { return saved.program.graph; }
};

namespace {

/// Evaluates pending operands in one program.
void evaluate_pending_of(const std::vector<Operand>& operands) {
  std::vector<NodeRef> pending;
  for (const Operand& operand : operands) {
    if (operand.array() == nullptr) continue;
    const NodeRef& node = Access::node(*operand.array(), operand.where());
    if (!node->evaluated()) pending.push_back(node);
  }
  if (pending.empty()) return;
  evaluate(pending);
  note_explicit_evaluation();
}

/// The array, or a copy of it at a multiple of 16 bytes, as the kernels require.
runtime::DeviceArray aligned(const runtime::DeviceArray& array) {
  if (is_aligned(array)) return array;
  const runtime::Device device = array.buffer->device();
  const runtime::Stream stream = runtime::Stream::current(device);
  const runtime::CaptureScope capture(stream);
  const auto bytes = static_cast<std::size_t>(ir::byte_count(array.type).constant());
  runtime::DeviceArray copied{
      array.type, runtime::allocate(bytes, stream, runtime::label_of(array.type, "a copy")), 0};
  if (capture.active()) capture.keep({array.buffer, copied.buffer});
  runtime::start_after(stream, array.buffer->stream());
  runtime::copy(copied.buffer->pointer(), device,
                static_cast<const std::byte*>(array.buffer->pointer()) + array.offset, device,
                bytes, stream);
  return copied;
}

/// The value of the program's parameter `i` in a call.
runtime::Argument argument_of(const ProgramState& state, std::size_t i,
                              const std::vector<Operand>& operands) {
  const ir::Graph& graph = state.graph();
  const ir::ValueId parameter = graph.parameters()[i];
  const std::size_t source = state.saved.sources[i];
  const Operand& operand = operands[source];
  const Site where = operand.where();
  const bool is_number = graph.attributes(parameter).scalar;
  if (is_number != (operand.array() == nullptr)) {
    throw ValueError(fmt::format("{}: argument {} is {}, but the program expects {} ({})",
                                 state.path, source, is_number ? "an array" : "a number",
                                 is_number ? "a number" : "an array", where.location.to_string()));
  }
  const DType dtype = graph.dtype(parameter);
  if (is_number)
    return runtime::ScalarArgument{dtype, scalar_bits(state.path, operand.scalar(), dtype, where)};
  return aligned(Access::node(*operand.array(), operand.where())->value);
}

runtime::Device device_of(const std::vector<runtime::Argument>& arguments) {
  for (const runtime::Argument& argument : arguments) {
    if (const auto* array = std::get_if<runtime::DeviceArray>(&argument))
      return array->buffer->device();
  }
  return runtime::current_device();
}

}  // namespace
}  // namespace frontend

std::vector<Array> Program::operator()(const std::vector<Operand>& operands) const {
  const ir::Graph& graph = state_->graph();
  if (frontend::Trace::current() != nullptr) {
    throw TraceError(fmt::format("{}: a saved program has no ops to record; call it outside of jit",
                                 state_->path));
  }
  if (operands.size() != input_count()) {
    throw ValueError(fmt::format("{} takes {} arguments, and {} were given", state_->path,
                                 input_count(), operands.size()));
  }
  frontend::evaluate_pending_of(operands);
  std::vector<runtime::Argument> arguments;
  for (std::size_t i = 0; i < graph.parameters().size(); ++i)
    arguments.push_back(frontend::argument_of(*state_, i, operands));
  const runtime::Device device = frontend::device_of(arguments);
  const auto executable = runtime::Executable::get(graph, state_->saved.program.options, device);
  runtime::Stream stream = runtime::Stream::current(device);
  const runtime::InterruptibleRun run(runtime::capabilities_of(device).host_memory);
  std::vector<Array> results;
  for (runtime::DeviceArray& value : executable->run(std::move(arguments), stream, &graph))
    results.push_back(frontend::Access::make(frontend::array_node(std::move(value))));
  return results;
}

std::size_t Program::input_count() const { return state_->saved.names.size(); }
std::vector<ProgramInput> Program::inputs() const {
  const ir::Graph& graph = state_->graph();
  std::vector<ProgramInput> inputs(input_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].name = state_->saved.names[i];
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    const ir::ValueId parameter = graph.parameters()[i];
    ProgramInput& input = inputs[state_->saved.sources[i]];
    input.is_number = graph.attributes(parameter).scalar;
    input.dtype = graph.dtype(parameter);
    for (const ir::Dim extent : graph.shape(parameter)) input.shape.push_back(extent.to_string());
  }
  return inputs;
}

std::size_t Program::output_count() const { return state_->graph().outputs.size(); }
std::string Program::ir() const { return ir::print(state_->graph()); }

Program load_program(const std::string& path, Trust trust) {
  const auto foreign =
      trust == Trust::anyone ? runtime::cache::Foreign::taken : runtime::cache::Foreign::refused;
  return Program(std::make_shared<const frontend::ProgramState>(
      frontend::ProgramState{runtime::load_saved_program(path, foreign), path}));
}

}  // namespace heddle
