#include "tests/emulator/emulated_programs.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "passes/calls/gemm.h"
#include "runtime/calls/handlers.h"
#include "runtime/launch/prepared.h"
#include "tests/emulator/engine/emulated_memory.h"
#include "tests/emulator/engine/emulated_product.h"
#include "tests/emulator/engine/interpreted_call.h"

namespace heddle::emulator {
namespace {

using passes::BufferRef;
using passes::GemmCall;
using passes::Parameter;
using passes::Program;
using passes::Step;

/// What the runs of a program and of its bodies share.
struct Machine {
  EmulatedModule& module;
  const std::vector<std::string>& kernel_names;  ///< of the whole program
  const RunOptions& options;
};

ir::SymbolBindings bind(const Program& program, std::span<const ir::HostArray> inputs) {
  std::vector<runtime::Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool scalar = i < program.inputs.size() && program.inputs[i].scalar;
    if (scalar) {
      arguments.emplace_back(runtime::ScalarArgument{inputs[i].type.dtype, 0});
    } else {
      arguments.emplace_back(runtime::DeviceArray{inputs[i].type, {}, 0});
    }
  }
  return runtime::bind_arguments(program, runtime::views_of(arguments));
}

/// One run of a program, or of a body.
class Run {
 public:
  Run(const Program& program, const Machine& machine, std::span<const ir::HostArray> inputs,
      const ir::SymbolBindings& bindings)
      : program_(program),
        machine_(machine),
        inputs_(inputs),
        prepared_(runtime::prepare(program, bindings)),
        arena_(static_cast<std::size_t>(prepared_.arena.bytes), 0) {
    place_inputs();
    place_outputs();
  }

  std::vector<ir::HostArray> run() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      begin_temporaries(i);
      try {
        run_step(program_.steps[i]);
      } catch (const EmulationError& error) {
        throw EmulationError(
            fmt::format("program {}, step {}: {}", program_.name, i, error.what()));
      }
    }
    std::vector<ir::HostArray> results;
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) results.push_back(take_output(i));
    return results;
  }

 private:
  /// An array that may lie anywhere lies one element behind a boundary.
  void place_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto alignment = static_cast<std::size_t>(program_.inputs[i].alignment);
      input_memory_.emplace_back(inputs_[i].data.size(),
                                 machine_.options.input_offset.value_or(alignment));
      Memory memory = whole(input_memory_.back());
      if (memory.bytes() > 0) std::memcpy(memory.data, inputs_[i].data.data(), memory.bytes());
      memory.define();
    }
  }

  void place_outputs() {
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const auto alignment = static_cast<std::size_t>(program_.outputs[i].alignment);
      output_memory_.emplace_back(static_cast<std::size_t>(prepared_.output_bytes[i]), alignment);
    }
  }

  static Memory whole(Allocation& allocation) { return {allocation.data(), allocation.defined()}; }

  Memory memory_of(const BufferRef& reference) {
    switch (reference.kind) {
      case BufferRef::Kind::input:
        return whole(input_memory_[reference.index]);
      case BufferRef::Kind::output:
        return output(reference.index);
      case BufferRef::Kind::fallback:
        return whole(fallback_memory_.at(reference.index));
      case BufferRef::Kind::temporary:
        break;
    }
    const auto offset = static_cast<std::size_t>(prepared_.arena.offsets[reference.index]);
    const std::int64_t bytes =
        program_.temporaries[reference.index].bytes.evaluate(prepared_.bindings);
    return {arena_.data() + offset,
            arena_.defined().subspan(offset, static_cast<std::size_t>(bytes))};
  }

  Memory output(std::size_t index) {
    const passes::ProgramOutput& output_of = program_.outputs[index];
    if (output_of.input) return whole(input_memory_[*output_of.input]);
    if (output_of.output) return output(*output_of.output);
    return whole(output_memory_[index]);
  }

  void begin_temporaries(std::size_t step) {
    for (std::uint32_t i = 0; i < program_.temporaries.size(); ++i) {
      if (program_.temporaries[i].first_step != step) continue;
      memory_of({BufferRef::Kind::temporary, i}).undefine();
    }
  }

  void run_step(const Step& step) {
    if (const passes::KernelStep* const kernel = step.kernel()) {
      launch(*kernel);
    } else if (const passes::CallStep* const call = step.call()) {
      run_call(*call);
    } else if (const passes::FillStep* const fill = step.fill()) {
      zero(*fill);
    }
  }

  void run_call(const passes::CallStep& call) {
    if (call.handler == passes::gemm_handler) return multiply(call);
    if (!call.bodies.empty()) return interpret(call);
    const runtime::Device gpu{runtime::DeviceKind::cuda, 0};
    const runtime::CallWork work = runtime::call_handler(call.handler, gpu.kind)
                                       .prepare(call, {program_.inputs, prepared_.bindings, gpu});
    const auto* const launches = std::get_if<std::vector<passes::KernelStep>>(&work);
    if (launches == nullptr) return interpret(call);
    for (const passes::KernelStep& each : *launches) launch(each);
  }

  void interpret(const passes::CallStep& call) {
    const InterpretedCall interpreted(
        call, prepared_.bindings,
        [this](const passes::Factor& factor) { return value_of(factor); });
    std::vector<ir::HostArray> operands;
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      operands.push_back(read(call, memory_of(call.operands[i].buffer), interpreted.operands()[i]));
    const std::vector<ir::HostArray> results =
        interpreted.run(operands, [&](std::size_t body, std::span<const ir::HostArray> inputs) {
          return Run(*call.bodies.at(body), machine_, inputs, prepared_.bindings).run();
        });
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      const Memory memory = memory_of(call.results[i].buffer);
      const std::vector<std::byte>& from = results[i].data;
      if (from.size() > memory.bytes())
        throw EmulationError(fmt::format("{} writes {} bytes to a buffer of {}", call.handler,
                                         from.size(), memory.bytes()));
      if (from.empty()) continue;
      std::memcpy(memory.data, from.data(), from.size());
      std::ranges::fill(memory.defined.first(from.size()), std::uint8_t{1});
    }
  }

  static ir::HostArray read(const passes::CallStep& call, const Memory& memory,
                            const ir::Type& type) {
    ir::HostArray array = ir::interpreter::allocate(type);
    const std::size_t bytes = array.data.size();
    const bool fits = bytes <= memory.bytes();
    if (!fits || std::ranges::count(memory.defined.first(bytes), std::uint8_t{0}) != 0)
      throw EmulationError(fmt::format("{} reads {} of a buffer of {} bytes, {}", call.handler,
                                       to_string(type), memory.bytes(),
                                       fits ? "not all of them written" : "which is less"));
    if (bytes != 0) std::memcpy(array.data.data(), memory.data, bytes);
    return array;
  }

  void run_fallback(const passes::Fallback& fallback) {
    fallback_memory_.clear();
    for (const ir::Dim bytes : fallback.buffers)
      fallback_memory_.emplace_back(static_cast<std::size_t>(bytes.evaluate(prepared_.bindings)),
                                    0);
    for (const Step& step : fallback.steps) run_step(step);
  }

  void launch(const passes::KernelStep& step) {
    const runtime::PreparedKernel prepared = runtime::prepare_kernel(step, prepared_.bindings);
    if (step.table_rows > 0) return add_row(step, prepared);
    if (prepared.blocks > 0) launch(step, prepared.blocks, arguments_of(step, prepared));
  }

  void launch(const passes::KernelStep& step, std::int64_t blocks,
              std::span<const Argument> arguments) {
    LaunchShape shape;
    shape.grid[0] = static_cast<std::uint32_t>(blocks);
    shape.block = {step.block[0], step.block[1], 1};
    shape.shared_bytes = step.shared_bytes;
    shape.cluster = step.cluster;
    shape.shuffle_seed = machine_.options.shuffle_seed;
    machine_.module.launch(machine_.kernel_names[step.kernel], shape, arguments);
  }

  /// Launches a table when it has the rows of all its steps.
  void add_row(const passes::KernelStep& step, const runtime::PreparedKernel& prepared) {
    if (step.together > 0) {
      rows_.clear();
      missing_rows_ = step.together;
    }
    rows_.push_back({prepared.blocks, arguments_of(step, prepared)});
    if (--missing_rows_ > 0) return;
    const std::int64_t most = std::ranges::max_element(rows_, {}, &Row::blocks)->blocks;
    if (most == 0) return;
    std::vector<Argument> values;
    for (const Row& row : rows_) {
      values.insert(values.end(), row.arguments.begin(), row.arguments.end());
      const std::int64_t blocks[] = {row.blocks, most};
      values.push_back(Argument::scalar(blocks, sizeof blocks));
    }
    const std::int64_t nothing[2] = {};
    values.resize(step.table_rows * (step.parameters.size() + 1),
                  Argument::scalar(nothing, sizeof nothing));
    const Argument table[] = {Argument::table(std::move(values))};
    launch(step, most * static_cast<std::int64_t>(rows_.size()), table);
  }

  std::vector<Argument> arguments_of(const passes::KernelStep& step,
                                     const runtime::PreparedKernel& prepared) {
    std::vector<Argument> arguments;
    std::size_t next_size = 0;
    for (const Parameter& parameter : step.parameters) {
      switch (parameter.kind) {
        case Parameter::Kind::buffer:
          clear(parameter, prepared.blocks);
          arguments.push_back(buffer_argument(parameter));
          break;
        case Parameter::Kind::size:
          arguments.push_back(Argument::scalar(&prepared.sizes[next_size++], 8));
          break;
        case Parameter::Kind::scalar:
          arguments.push_back(
              Argument::scalar(inputs_[parameter.scalar].data.data(), size_of(parameter.dtype)));
          break;
        case Parameter::Kind::constant:
          arguments.push_back(Argument::scalar(&parameter.bits, size_of(parameter.dtype)));
          break;
      }
    }
    return arguments;
  }

  void clear(const Parameter& parameter, std::int64_t blocks) {
    if (parameter.cleared == 0) return;
    const Memory memory = memory_of(parameter.buffer);
    const auto bytes = static_cast<std::size_t>(parameter.cleared * blocks);
    if (bytes > memory.bytes()) throw EmulationError("more is cleared than a buffer has");
    std::memset(memory.data, 0, bytes);
    std::ranges::fill(memory.defined.first(bytes), std::uint8_t{1});
  }

  Argument buffer_argument(const Parameter& parameter) {
    const BufferRef& reference = parameter.buffer;
    const bool kept =
        reference.kind == BufferRef::Kind::input && !program_.inputs[reference.index].donated;
    const Memory memory = memory_of(reference);
    return Argument::tracked(memory.data, memory.defined, parameter.written && !kept);
  }

  void multiply(const passes::CallStep& call) {
    const GemmCall product = passes::gemm_of(call);
    const EmulatedProduct::MemoryOf memory = [this](const BufferRef& buffer) {
      return memory_of(buffer);
    };
    const EmulatedProduct emulated(product, prepared_.bindings, memory);
    if (!call.fallback) return emulated.multiply();
    const double alpha = value_of(product.alpha), beta = value_of(product.beta);
    const bool applies = alpha != 0 && beta != 0 && product.depth.evaluate(prepared_.bindings) != 0;
    if (applies && !machine_.options.refuse_epilogues)
      return emulated.multiply_and_finish(alpha, beta);
    run_fallback(*call.fallback);
  }

  double value_of(const passes::Factor& factor) const {
    if (!factor.scalar) return factor.constant;
    const ir::HostArray& input = inputs_[*factor.scalar];
    return factor.constant * number(input.data.data(), input.type.dtype);
  }

  void zero(const passes::FillStep& step) {
    const Memory memory = memory_of(step.buffer);
    const auto bytes = static_cast<std::size_t>(step.bytes.evaluate(prepared_.bindings));
    if (bytes > memory.bytes())
      throw EmulationError(fmt::format("{} bytes of {} are zeroed", bytes, memory.bytes()));
    if (bytes == 0) return;
    std::memset(memory.data, 0, bytes);
    std::ranges::fill(memory.defined.first(bytes), std::uint8_t{1});
  }

  ir::HostArray take_output(std::size_t index) {
    const Memory memory = output(index);
    const auto hole = std::ranges::find(memory.defined, std::uint8_t{0});
    const DType dtype = program_.outputs[index].type.dtype;
    if (hole != memory.defined.end()) {
      throw EmulationError(fmt::format(
          "program {} never writes element {} of output {}", program_.name,
          static_cast<std::size_t>(hole - memory.defined.begin()) / size_of(dtype), index));
    }
    ir::HostArray result{{dtype, prepared_.output_shapes[index]}, {}};
    result.data.assign(memory.data, memory.data + memory.bytes());
    return result;
  }

  const Program& program_;
  const Machine& machine_;
  std::span<const ir::HostArray> inputs_;
  runtime::Prepared prepared_;
  Allocation arena_;
  std::vector<Allocation> input_memory_, output_memory_, fallback_memory_;

  struct Row {
    std::int64_t blocks;
    std::vector<Argument> arguments;
  };
  std::vector<Row> rows_;  ///< of the launch that is being put together
  std::uint32_t missing_rows_ = 0;
};

/// Each kernel once. A name holds the hash of its text, so equal names are equal kernels.
EmulatedModule compile_all(const std::vector<runtime::PrintedProgram>& programs) {
  std::map<std::string, const codegen::KernelSource*> by_name;
  std::vector<codegen::KernelSource> kernels;
  for (const runtime::PrintedProgram& program : programs) {
    for (const codegen::KernelSource& kernel : program.kernels) {
      const auto [known, added] = by_name.emplace(kernel.name, &kernel);
      if (added) {
        kernels.push_back(kernel);
      } else if (known->second->body != kernel.body) {
        throw InternalError("two kernels are named " + kernel.name);
      }
    }
  }
  return EmulatedModule::compile(kernels);
}

}  // namespace

EmulatedPrograms::EmulatedPrograms(std::vector<runtime::PrintedProgram> programs)
    : module_(compile_all(programs)) {
  for (runtime::PrintedProgram& program : programs) {
    programs_.push_back(std::move(program.program));
  }
}

std::vector<ir::HostArray> EmulatedPrograms::run(std::size_t index,
                                                 std::span<const ir::HostArray> inputs,
                                                 const RunOptions& options) {
  const Program& program = programs_.at(index);
  return Run(program, {module_, program.kernel_names, options}, inputs, bind(program, inputs))
      .run();
}

}  // namespace heddle::emulator
