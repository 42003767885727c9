#include "tests/cases/programs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <map>
#include <regex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/common/sections.h"
#include "runtime/compile/deferred.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/compile/make_modules.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/device/memory.h"
#include "runtime/execute/executable.h"
#include "runtime/host/compiler.h"
#include "runtime/launch/program_runner.h"
#include "tests/support/oracle.h"

namespace heddle::test {
namespace {

using codegen::KernelSource;
using ir::HostArray;
using runtime::Argument;
using runtime::Device;
using runtime::DeviceArray;
using runtime::ModuleImage;

constexpr std::size_t kernels_in_a_unit = 32;

/// Read by the runtime when it first allocates.
void poison_memory() {
  static const int set = ::setenv("HEDDLE_POISON", "1", 1);
  if (set != 0) throw InternalError("HEDDLE_POISON cannot be set");
}

bool flag(const std::vector<bool>& flags, std::size_t index, bool otherwise) {
  return index < flags.size() ? flags[index] : otherwise;
}

DeviceArray upload(const HostArray& array, bool aligned, const runtime::Stream& stream) {
  const std::size_t offset = aligned ? 0 : size_of(array.type.dtype);
  DeviceArray result{array.type, runtime::allocate(offset + array.data.size(), stream),
                     static_cast<std::int64_t>(offset)};
  if (array.data.empty()) return result;
  runtime::copy(static_cast<std::byte*>(result.buffer->pointer()) + offset, stream.device(),
                array.data.data(), Device{}, array.data.size(), stream);
  return result;
}

HostArray download(const DeviceArray& array, const runtime::Stream& stream) {
  HostArray result{array.type, {}};
  result.data.resize(bytes_of(array.type));
  if (!result.data.empty()) {
    const auto* from = static_cast<const std::byte*>(array.buffer->pointer()) + array.offset;
    runtime::copy(result.data.data(), Device{}, from, stream.device(), result.data.size(), stream);
  }
  stream.synchronize();
  return result;
}

/// Calls `run` on arguments made of `inputs`.
template <class Run>
std::vector<HostArray> run_on(const runtime::CompileOptions& options,
                              const passes::Program& program, std::span<const HostArray> inputs,
                              Device device, const Run& run) {
  runtime::Stream stream = runtime::Stream::current(device);
  std::vector<Argument> arguments;
  std::vector<std::pair<std::size_t, DeviceArray>> kept;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (program.inputs.at(i).scalar) {
      runtime::ScalarArgument scalar{inputs[i].type.dtype, 0};
      std::memcpy(scalar.bits.bytes(), inputs[i].data.data(), inputs[i].data.size());
      arguments.emplace_back(scalar);
      continue;
    }
    DeviceArray array = upload(inputs[i], flag(options.aligned, i, true), stream);
    if (!flag(options.donated, i, false)) kept.emplace_back(i, array);
    arguments.emplace_back(std::move(array));
  }
  std::vector<HostArray> results;
  for (const DeviceArray& output : run(std::move(arguments), stream)) {
    results.push_back(download(output, stream));
  }
  for (const auto& [i, array] : kept) {
    if (download(array, stream).data != inputs[i].data) {
      throw InternalError(fmt::format("program {} wrote to input {}", program.name, i));
    }
  }
  return results;
}

/// Kernels that are compiled with the same options.
struct Batch {
  runtime::host::Options options;
  std::vector<KernelSource> kernels;
  std::map<std::string, std::size_t> by_name;
  std::vector<std::shared_ptr<const ModuleImage>> modules;

  void add(const KernelSource& kernel) {
    const auto [known, added] = by_name.emplace(kernel.name, kernels.size());
    if (added) {
      kernels.push_back(kernel);
    } else if (kernels[known->second].body != kernel.body) {
      throw InternalError("two kernels are named " + kernel.name);
    }
  }
  std::size_t unit_of(const std::string& name) const {
    return by_name.at(name) / kernels_in_a_unit;
  }
};

/// Calls `function` for 0 ... count - 1, on as many threads as there are processors.
template <class Function>
void for_each_at_once(std::size_t count, const Function& function) {
  std::vector<std::future<void>> workers;
  const std::size_t width = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next = 0;
  for (std::size_t worker = 0; worker < std::min(width, count); ++worker) {
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t i; (i = next++) < count;) function(i);
    }));
  }
  for (std::future<void>& worker : workers) worker.wait();
  for (std::future<void>& worker : workers) worker.get();
}

std::size_t unit_count(std::size_t kernels) {
  return (kernels + kernels_in_a_unit - 1) / kernels_in_a_unit;
}

std::span<const KernelSource> unit_of(std::span<const KernelSource> kernels, std::size_t unit) {
  const std::size_t first = unit * kernels_in_a_unit;
  return kernels.subspan(first, std::min(kernels_in_a_unit, kernels.size() - first));
}

void compile(std::span<Batch> batches) {
  std::vector<std::pair<Batch*, std::size_t>> units;
  for (Batch& batch : batches) {
    batch.modules.resize(unit_count(batch.kernels.size()));
    for (std::size_t i = 0; i < batch.modules.size(); ++i) units.emplace_back(&batch, i);
  }
  for_each_at_once(units.size(), [&](std::size_t i) {
    const auto [batch, unit] = units[i];
    const std::span<const KernelSource> kernels = unit_of(batch->kernels, unit);
    auto image = std::make_shared<ModuleImage>();
    image->kind = runtime::cache::PayloadKind::host_object;
    for (const KernelSource& kernel : kernels) image->kernels.push_back(kernel.name);
    const runtime::host::Unit text{kernels[0].name, merged_text(kernels)};
    image->bytes = runtime::host::compile({&text, 1}, runtime::host_target(), batch->options);
    batch->modules[unit] = std::move(image);
  });
}

bool contracts(const Job& job) { return job.options.approximate && !job.options.strict; }

class HostPrograms final : public Programs {
 public:
  explicit HostPrograms(std::span<const Job> jobs) {
    poison_memory();
    // By whether they contract; quick ones, of both kinds, behind.
    std::array<Batch, 4> batches;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      batches[i].options = {.contract = i % 2 == 0, .level = i < 2 ? 3 : 0};
    }
    std::vector<runtime::PrintedProgram> printed;
    for (const Job& job : jobs) {
      printed.push_back(runtime::print_program(job.graph, job.options, runtime::host_target()));
      Batch& full = batches[contracts(job) ? 0 : 1];
      Batch& quick = batches[contracts(job) ? 2 : 3];
      for (const KernelSource& kernel : printed.back().kernels) {
        (job.quick && !full.by_name.contains(kernel.name) ? quick : full).add(kernel);
      }
    }
    compile(batches);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      options_.push_back(jobs[i].options);
      const std::size_t strict = contracts(jobs[i]) ? 0 : 1;
      load(jobs[i], std::move(printed[i]), batches[strict], batches[strict + 2]);
    }
  }

  const passes::Program& program(std::size_t index) const override {
    return runners_.at(index)->program();
  }

  std::vector<HostArray> run(std::size_t index, std::span<const HostArray> inputs) override {
    std::vector<HostArray> compiled = run(*runners_.at(index), index, inputs);
    if (uncompiled_[index]) {
      const std::vector<HostArray> blocks = run(*uncompiled_[index], index, inputs);
      for (std::size_t i = 0; i < blocks.size(); ++i) require_equal(i, blocks[i], compiled[i]);
    }
    return compiled;
  }

 private:
  std::vector<HostArray> run(runtime::ProgramRunner& runner, std::size_t index,
                             std::span<const HostArray> inputs) {
    return run_on(options_.at(index), runner.program(), inputs, Device{},
                  [&](const std::vector<Argument>& arguments, runtime::Stream& stream) {
                    std::vector<DeviceArray> outputs;
                    runner.run(runtime::views_of(arguments), stream, outputs);
                    return outputs;
                  });
  }

  /// Bit for bit, but for the bits of NaN.
  static void require_equal(std::size_t output, const HostArray& blocks,
                            const HostArray& compiled) {
    OracleResult expected;
    expected.outputs.push_back({compiled, {}, 0});
    const Comparison same = compare({&blocks, 1}, expected, {.bitwise = true});
    if (!same) {
      throw InternalError(
          fmt::format("before it is compiled, output {} has other bits: {}", output, same.message));
    }
  }

  /// Runs the program's kernels uncompiled, as far as they can; null if none can.
  std::unique_ptr<runtime::ProgramRunner> load_uncompiled(const Job& job,
                                                          runtime::ProgramImage image) {
    const ir::Target& target = runtime::host_target();
    auto deferred = std::make_shared<runtime::Deferred>();
    deferred->target = target;
    deferred->planned =
        runtime::plan_kernels(job.graph, runtime::plan_options(job.options, target));
    bool any = false;
    for (std::size_t i = 0; i < deferred->planned.kernels.size(); ++i) {
      const std::string why =
          runtime::compiler_of(target).refusal_to_defer(deferred->planned.printed(i), target);
      deferred->uncompiled.push_back(why.empty());
      any |= why.empty();
    }
    if (!any) return nullptr;
    image.deferred = std::move(deferred);
    auto launcher = runtime::load_kernels(image, Device{});
    return std::make_unique<runtime::ProgramRunner>(std::move(image.program), std::move(launcher));
  }

  void load(const Job& job, runtime::PrintedProgram&& printed, const Batch& full,
            const Batch& quick) {
    runtime::ProgramImage image{std::move(printed.program), {}};
    std::set<const ModuleImage*> modules;
    for (const std::string& name : image.program.kernel_names) {
      const Batch& batch = full.by_name.contains(name) ? full : quick;
      modules.insert(batch.modules[batch.unit_of(name)].get());
    }
    for (const ModuleImage* module : modules) image.modules.push_back(*module);
    uncompiled_.push_back(load_uncompiled(job, image));
    auto launcher = runtime::load_kernels(image, Device{});
    runners_.push_back(
        std::make_unique<runtime::ProgramRunner>(std::move(image.program), std::move(launcher)));
  }

  std::vector<runtime::CompileOptions> options_;
  std::vector<std::unique_ptr<runtime::ProgramRunner>> runners_;
  /// The same programs, uncompiled as far as they can be.
  std::vector<std::unique_ptr<runtime::ProgramRunner>> uncompiled_;
};

class Executables final : public Programs {
 public:
  Executables(std::span<const Job> jobs, Device device) : device_(device) {
    poison_memory();
    executables_.resize(jobs.size());
    for (const Job& job : jobs) options_.push_back(job.options);
    for_each_at_once(jobs.size(), [&](std::size_t i) {
      executables_[i] = runtime::Executable::get(jobs[i].graph, jobs[i].options, device);
    });
  }

  const passes::Program& program(std::size_t index) const override {
    return executables_.at(index)->program();
  }

  std::vector<HostArray> run(std::size_t index, std::span<const HostArray> inputs) override {
    return run_on(options_.at(index), program(index), inputs, device_,
                  [&](std::vector<Argument>&& arguments, runtime::Stream& stream) {
                    return executables_[index]->run(std::move(arguments), stream);
                  });
  }

 private:
  Device device_;
  std::vector<runtime::CompileOptions> options_;
  std::vector<std::shared_ptr<const runtime::Executable>> executables_;
};

}  // namespace

std::size_t bytes_of(const ir::Type& type) {
  return static_cast<std::size_t>(ir::element_count(type.shape).constant()) * size_of(type.dtype);
}

void check_sections(const KernelSource& kernel) {
  static const std::regex names("op::(?:reduce::)?(\\w+)");
  const auto& table = codegen::library_sections();
  const auto takes = [&](std::string_view section) {
    return std::ranges::find(kernel.sections, section) != kernel.sections.end();
  };
  for (std::sregex_iterator found(kernel.body.begin(), kernel.body.end(), names), end; found != end;
       ++found) {
    const std::string name = (*found)[1];
    const codegen::Section* section = table.defining(name);
    const codegen::Section* of_complex = table.defining(name, codegen::Operands::complex);
    const codegen::Section* of_half = table.defining(name, codegen::Operands::half);
    const bool complex_type = name == "complex64" || name == "complex128";
    const bool type = name == "half" || name == "bfloat16" || complex_type;
    const bool taken = type ? takes(complex_type ? "complex" : name)
                            : section == nullptr || takes(section->name) ||
                                  (of_complex != nullptr && takes(of_complex->name)) ||
                                  (of_half != nullptr && takes(of_half->name));
    if (!taken) {
      throw InternalError(fmt::format("{} uses op::{} and does not take its section:\n{}",
                                      kernel.name, name, kernel.body));
    }
  }
  if (takes("complex") && kernel.body.find("op::complex") == std::string::npos) {
    throw InternalError(
        fmt::format("{} takes complex code for nothing:\n{}", kernel.name, kernel.body));
  }
}

std::string merged_text(std::span<const KernelSource> kernels) {
  std::vector<std::string> sections;
  for (const KernelSource& kernel : kernels) {
    check_sections(kernel);
    sections.insert(sections.end(), kernel.sections.begin(), kernel.sections.end());
  }
  std::string text;
  for (const std::string& name : codegen::close_over_needs(sections)) {
    text += codegen::section(name).text;
  }
  std::set<std::string> functions;
  for (const KernelSource& kernel : kernels) {
    for (const std::string& one : kernel.functions) {
      if (functions.insert(one).second) text += one;
    }
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += fmt::format("namespace kernel_{} {{\n{}}}\n", i, kernels[i].body);
  }
  return text;
}

void compile_with_nvrtc(std::span<const KernelSource> kernels, const std::string& architecture) {
  for_each_at_once(unit_count(kernels.size()), [&](std::size_t unit) {
    const std::span<const KernelSource> some = unit_of(kernels, unit);
    runtime::nvrtc::compile(merged_text(some), some[0].name, architecture,
                            {.extra = {"--Ofast-compile=max"}});
  });
}

std::unique_ptr<Programs> compile_for_host(std::span<const Job> jobs) {
  return std::make_unique<HostPrograms>(jobs);
}

std::unique_ptr<Programs> compile_executables(std::span<const Job> jobs, Device device) {
  return std::make_unique<Executables>(jobs, device);
}

bool tests_on_gpu() {
  const char* device = std::getenv("HEDDLE_DEVICE");
  return device != nullptr && runtime::parse_device(device).kind == runtime::DeviceKind::cuda;
}

}  // namespace heddle::test
