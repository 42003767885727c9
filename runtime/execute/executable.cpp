#include "runtime/execute/executable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "runtime/base/bounded_map.h"
#include "runtime/base/in_flight.h"
#include "runtime/base/log.h"
#include "runtime/base/statistics.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/compile/recording.h"
#include "runtime/device/backend.h"
#include "runtime/launch/program_runner.h"
#include "runtime/profile/kernel_history.h"

namespace heddle::runtime {

struct ExecutableImplementation {
  virtual ~ExecutableImplementation() = default;
  virtual void run(std::span<const ArgumentView> arguments, Stream& stream,
                   std::vector<DeviceArray>& outputs, const CallerLocations& lines) = 0;
  virtual const passes::Program& program() const = 0;
  virtual void prepare_run() {}
};

namespace {

struct CompiledImplementation final : ExecutableImplementation {
  CompiledImplementation(const ProgramImage& image, Device device)
      : runner(image.program, load_kernels(image, device)) {}
  void run(std::span<const ArgumentView> arguments, Stream& stream,
           std::vector<DeviceArray>& outputs, const CallerLocations& lines) override {
    runner.run(arguments, stream, outputs, lines);
  }
  const passes::Program& program() const override { return runner.program(); }
  void prepare_run() override { runner.prepare_run(); }
  ProgramRunner runner;
};

/// The implementation on a machine without a C++ compiler: an interpreter.
struct InterpretedImplementation final : ExecutableImplementation {
  explicit InterpretedImplementation(const ir::Graph& graph) : graph(graph) {
    for (const ir::ValueId parameter : graph.parameters()) {
      signature.inputs.push_back(
          {graph.type(parameter), graph.attributes(parameter).scalar, false, 16});
    }
    for (const ir::ValueId output : graph.outputs)
      signature.outputs.push_back({graph.type(output), {}, {}});
    signature.facts = graph.facts;
    signature.requirements = ir::requirements(graph);
    signature.name = graph.name;
  }
  void run(std::span<const ArgumentView> arguments, Stream& stream,
           std::vector<DeviceArray>& outputs, const CallerLocations& lines) override;
  const passes::Program& program() const override { return signature; }
  ir::Graph graph;
  passes::Program signature;
};

void InterpretedImplementation::run(std::span<const ArgumentView> arguments, Stream& stream,
                                    std::vector<DeviceArray>& outputs,
                                    const CallerLocations& lines) {
  check_requirements(signature, bind_arguments(signature, arguments), lines.graph);
  std::vector<ir::HostArray> inputs;
  for (const auto& [array, scalar] : arguments) {
    ir::HostArray input;
    if (array != nullptr) {
      input.type = array->type;
      input.data.resize(static_cast<std::size_t>(element_count(array->type.shape).constant()) *
                        size_of(array->type.dtype));
      if (!input.data.empty()) {
        std::memcpy(input.data.data(),
                    static_cast<const std::byte*>(array->buffer->pointer()) + array->offset,
                    input.data.size());
      }
    } else {
      input.type = {scalar.dtype, {}};
      input.data.resize(size_of(scalar.dtype));
      std::memcpy(input.data.data(), scalar.bits.bytes(), input.data.size());
    }
    inputs.push_back(std::move(input));
  }
  std::vector<DeviceArray> made;
  for (const ir::HostArray& result : interpret(graph, inputs)) {
    DeviceArray output{result.type,
                       allocate(result.data.size(), stream, label_of(result.type, graph.name),
                                lines.of_output(made.size())),
                       0};
    if (!result.data.empty())
      std::memcpy(output.buffer->pointer(), result.data.data(), result.data.size());
    made.push_back(std::move(output));
  }
  std::ranges::move(made, std::back_inserter(outputs));
}

bool must_interpret(Device device) {
  if (!capabilities_of(device).host_memory) return false;
  const std::string& reason = backend_of(device).compiler().unavailable_reason();
  if (reason.empty()) return false;
  static std::once_flag warned;
  std::call_once(warned, [&] {
    log().warn("{} Until then programs are interpreted, which is slow.", reason);
  });
  return true;
}

std::unique_ptr<ExecutableImplementation> make(const ir::Graph& graph,
                                               const CompileOptions& options, Device device) {
  const ir::Target& target = target_of(device);
  try {
    return std::make_unique<CompiledImplementation>(
        prepare_program(graph, options, target, Entries::compatible), device);
  } catch (const LoadFailure& failure) {
    if (must_interpret(device)) return std::make_unique<InterpretedImplementation>(graph);
    // If the loader rejects cached code, it is compiled again, once. The entry is deleted only if
    // it is damaged: other machines may share the cache.
    cache::Store& store = cache::Store::global();
    const std::optional<cache::Key> key =
        cached_program_key(graph, options, target, Entries::compatible);
    if (!key && !options.deferred) throw;
    if (key && failure.damaged) store.discard(*key);
    const ProgramImage image = recompile_program(graph, options, target);
    return std::make_unique<CompiledImplementation>(image, device);
  } catch (const DeviceError&) {
    if (must_interpret(device)) return std::make_unique<InterpretedImplementation>(graph);
    throw;
  }
}

/// If freshly compiled code does not load, throws an error that describes it and names a
/// reproducer.
std::unique_ptr<ExecutableImplementation> make_or_explain(const ir::Graph& graph,
                                                          const CompileOptions& options,
                                                          Device device) {
  try {
    return make(graph, options, device);
  } catch (const LoadFailure& failure) {
    throw DeviceError(describe_refusal(failure, graph, options, target_of(device)));
  }
}

/// Executables by graph, options and device.
class ExecutableCache {
 public:
  using Value = std::shared_ptr<const Executable>;

  Value find(const ir::Hash128& key) {
    const std::lock_guard lock(mutex_);
    const Value* const found = entries_.find(key);
    return found == nullptr ? nullptr : *found;
  }
  void insert(const ir::Hash128& key, Value value) {
    const std::lock_guard lock(mutex_);
    entries_[key] = std::move(value);
  }

  InFlight<ir::Hash128, Value, ir::Hash128Hasher> in_flight;

  static ExecutableCache& global() {
    static ExecutableCache* const cache = new ExecutableCache;
    return *cache;
  }

 private:
  ir::Mutex mutex_;
  BoundedMap<ir::Hash128, Value, ir::Hash128Hasher> entries_{4096};
};

/// The source location, in the caller's graph, of an op that uses a parameter.
ir::Location line_of_use(const ir::Graph& graph, std::size_t parameter) {
  const ir::ValueId wanted = graph.parameters()[parameter];
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    if (std::ranges::find(graph.operands(id), wanted) != graph.operands(id).end())
      return graph.node(id).location;
  }
  return {};
}

[[noreturn]] void refuse_devices(const Stream& stream, const passes::Program& program,
                                 std::span<const ArgumentView> arguments,
                                 const CallerLocations& lines) {
  std::string list;
  ir::Location line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const DeviceArray* const array = arguments[i].array;
    if (array == nullptr || !array->buffer) continue;
    const Device device = array->buffer->device();
    list += fmt::format("{}input {}, {}, on {}", list.empty() ? "" : "; ", i,
                        ir::describe(array->type), to_string(device));
    const bool is_foreign = !(device == stream.device());
    if (is_foreign && lines.graph != nullptr && line.file == nullptr &&
        i < lines.graph->parameters().size())
      line = line_of_use(*lines.graph, i);
  }
  const std::string place = line.to_string();
  throw DeviceError(
      fmt::format("{}: all arrays of a call must be on one device, here {}: {}{}. Move them to it "
                  "first (in Python x.to_device(\"{}\"))",
                  lines.name_of(program.name), to_string(stream.device()), list,
                  place.empty() ? "" : " (used at " + place + ")", to_string(stream.device())));
}

/// Throws DeviceError for arrays on another device: kernels would use their addresses as if they
/// were on this one.
void require_device_of(const Stream& stream, const passes::Program& program,
                       std::span<const ArgumentView> arguments, const CallerLocations& lines) {
  for (const ArgumentView& argument : arguments) {
    if (argument.array == nullptr || !argument.array->buffer) continue;
    const Buffer& buffer = *argument.array->buffer;
    if (!buffer.is_of(stream) && !(buffer.device() == stream.device())) [[unlikely]]
      refuse_devices(stream, program, arguments, lines);
  }
}

}  // namespace

Executable::Executable(std::unique_ptr<ExecutableImplementation> implementation)
    : implementation_(std::move(implementation)) {}
Executable::~Executable() = default;

std::shared_ptr<const Executable> Executable::get(const ir::Graph& graph,
                                                  const CompileOptions& requested,
                                                  const Device& device) {
  start_requested_observers();
  if (is_recording()) add_to_recording(graph, requested);
  const CompileOptions options = with_environment(requested);
  ir::Hasher hasher;
  hasher.hash(graph.hash());
  hash_into(hasher, options, device);
  const ir::Hash128 key = hasher.finish();
  ExecutableCache& cache = ExecutableCache::global();
  if (auto found = cache.find(key)) {
    const ir::Span span(ir::Phase::compile, graph.name);
    if (span.data() != nullptr) span.data()->source = "memory";
    statistics().program_hits.fetch_add(1, std::memory_order_relaxed);
    return found;
  }
  return cache.in_flight.run(key, [&]() -> ExecutableCache::Value {
    if (auto found = cache.find(key)) return found;
    auto made = std::make_shared<const Executable>(make_or_explain(graph, options, device));
    statistics().programs_made.fetch_add(1, std::memory_order_relaxed);
    cache.insert(key, made);
    return made;
  });
}

void Executable::run(std::span<const ArgumentView> arguments, Stream& stream,
                     std::vector<DeviceArray>& outputs, const CallerLocations& lines) const {
  require_device_of(stream, program(), arguments, lines);
  implementation_->run(arguments, stream, outputs, lines);
}

std::vector<DeviceArray> Executable::run(std::vector<Argument>&& arguments, Stream& stream,
                                         const CallerLocations& lines) const {
  std::vector<DeviceArray> outputs;
  run(views_of(arguments), stream, outputs, lines);
  arguments.clear();
  return outputs;
}

const passes::Program& Executable::program() const { return implementation_->program(); }

void Executable::prepare_run() const { implementation_->prepare_run(); }

int Executable::kernel_count() const {
  const auto& steps = program().steps;
  return static_cast<int>(std::ranges::count_if(
      steps, [](const passes::Step& step) { return step.kernel() != nullptr; }));
}

std::string generated_source(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target) {
  std::string text;
  for (const codegen::KernelSource& kernel :
       print_program(graph, with_environment(options), target).kernels) {
    text += "// " + kernel.name + "\n" + kernel.text() + "\n";
  }
  return text;
}

int warm(const ir::Graph& graph, const CompileOptions& options, const ir::Target& target) {
  int compiled = 0;
  for (const ModuleImage& module :
       compile_program(graph, with_environment(options), target).modules) {
    if (module.built) compiled += static_cast<int>(module.kernels.size());
  }
  return compiled;
}

}  // namespace heddle::runtime
