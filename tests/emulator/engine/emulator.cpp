#include "tests/emulator/emulator.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "runtime/base/process.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/compile/compile_error.h"
#include "runtime/host/compiler.h"
#include "tests/emulator/engine/global_memory.h"
#include "tests/emulator/engine/scheduler.h"
#include "tests/emulator/engine/translation_unit.h"

namespace heddle::emulator {
namespace {

constexpr std::uint32_t largest_block = 1024;
constexpr std::uint32_t largest_cluster = 16;
constexpr std::uint32_t most_shared_bytes = 227 << 10;
constexpr std::size_t kernels_in_a_unit = 16;

/// Contraction is off: results are those of `strict`.
const std::vector<std::string> options = {"-std=c++17",
                                          "-O1",
                                          "-fPIC",
                                          "-shared",
                                          "-fvisibility=hidden",
                                          "-fno-exceptions",
                                          "-ffp-contract=off",
                                          "-w",
                                          "-fno-asynchronous-unwind-tables"};

/// A shared object of some of the batch's kernels.
struct Unit {
  void* handle = nullptr;
  const heddle_emulator::ModuleTable* table = nullptr;
  std::mutex busy;  ///< its one Machine serves one launch at a time

  ~Unit() {
    if (handle != nullptr) dlclose(handle);
  }
};

std::unique_ptr<Unit> compile_unit(std::span<const codegen::KernelSource> kernels) {
  const runtime::host::Compiler* compiler = runtime::host::find_compiler();
  if (compiler == nullptr) throw DeviceError(runtime::host::unavailable_reason());
  const runtime::TemporaryFolder folder;
  const std::string source = folder.path() + "/kernels.cpp";
  const std::string object = folder.path() + "/kernels.so";
  const std::string text = print_translation_unit(kernels);
  std::ofstream(source) << text;

  std::vector<std::string> command = compiler->program;
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-I", device_folder(), "-o", object, source, "-lm"});
  const runtime::ProcessResult result = runtime::run_process(command);
  if (result.status != 0) {
    throw CompileError(runtime::compile_message("emulated kernels", compiler->name(), options,
                                                result.output, text));
  }
  auto unit = std::make_unique<Unit>();
  unit->handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (unit->handle == nullptr) throw DeviceError(fmt::format("dlopen: {}", dlerror()));
  unit->table = static_cast<const heddle_emulator::ModuleTable*>(
      dlsym(unit->handle, "heddle_emulator_module"));
  return unit;
}

/// The N of __launch_bounds__(N), or the largest block where there is none.
std::uint32_t launch_bound(const std::string& body) {
  static constexpr std::string_view word = "__launch_bounds__(";
  const std::size_t at = body.find(word);
  std::uint32_t bound = largest_block;
  if (at != std::string::npos) {
    std::from_chars(body.data() + at + word.size(), body.data() + body.size(), bound);
  }
  return bound;
}

/// What the driver would refuse. Throws EmulationError.
void check_shape(std::string_view kernel, const LaunchShape& shape, std::uint32_t bound) {
  const auto require = [&](bool good, const std::string& fault) {
    if (!good) throw EmulationError(fmt::format("launch of kernel '{}': {}", kernel, fault));
  };
  const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  require(threads >= 1 && threads <= bound && shape.block[2] <= 64,
          fmt::format("a block of ({}, {}, {}) threads, where at most {} are allowed",
                      shape.block[0], shape.block[1], shape.block[2], bound));
  require(
      std::ranges::all_of(shape.grid, [](std::uint32_t n) { return n >= 1; }) &&
          shape.grid[0] <= 0x7fffffffu && shape.grid[1] <= 65535 && shape.grid[2] <= 65535,
      fmt::format("a grid of ({}, {}, {}) blocks", shape.grid[0], shape.grid[1], shape.grid[2]));
  require(shape.shared_bytes <= most_shared_bytes,
          fmt::format("{} bytes of shared memory, where a block has {}", shape.shared_bytes,
                      most_shared_bytes));
  require(
      shape.cluster >= 1 && shape.cluster <= largest_cluster && shape.grid[0] % shape.cluster == 0,
      fmt::format("clusters of {} blocks in a grid of {} along x", shape.cluster, shape.grid[0]));
}

}  // namespace

Argument Argument::scalar(const void* value, std::size_t bytes) {
  Argument result(nullptr, bytes, Access::value);
  if (bytes > result.value_.size()) throw EmulationError("a value of more than 16 bytes");
  std::memcpy(result.value_.data(), value, bytes);
  return result;
}

struct EmulatedModule::Implementation {
  struct Kernel {
    Unit* unit = nullptr;
    const KernelEntry* entry = nullptr;
    std::uint32_t bound = largest_block;
  };
  std::vector<std::unique_ptr<Unit>> units;
  std::map<std::string, Kernel, std::less<>> kernels;
};

EmulatedModule::EmulatedModule(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
EmulatedModule::EmulatedModule(EmulatedModule&&) noexcept = default;
EmulatedModule& EmulatedModule::operator=(EmulatedModule&&) noexcept = default;
EmulatedModule::~EmulatedModule() = default;

EmulatedModule EmulatedModule::compile(std::span<const codegen::KernelSource> kernels) {
  auto implementation = std::make_unique<Implementation>();
  const std::size_t count = (kernels.size() + kernels_in_a_unit - 1) / kernels_in_a_unit;
  implementation->units.resize(count);
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  const auto compile_some = [&] {
    for (std::size_t i; (i = next++) < count;) {
      const std::size_t first = i * kernels_in_a_unit;
      const std::size_t size = std::min(kernels_in_a_unit, kernels.size() - first);
      try {
        implementation->units[i] = compile_unit(kernels.subspan(first, size));
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(compile_some);
    compile_some();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Unit& unit = *implementation->units[i / kernels_in_a_unit];
    const KernelEntry& entry = unit.table->kernels[i % kernels_in_a_unit];
    const bool added =
        implementation->kernels
            .emplace(kernels[i].name,
                     Implementation::Kernel{&unit, &entry, launch_bound(kernels[i].body)})
            .second;
    if (!added) throw InternalError("two kernels of a batch are named " + kernels[i].name);
  }
  return EmulatedModule(std::move(implementation));
}

LaunchTraffic EmulatedModule::launch(std::string_view kernel, const LaunchShape& shape,
                                     std::span<const Argument> arguments) {
  const auto found = implementation_->kernels.find(kernel);
  if (found == implementation_->kernels.end()) {
    throw InternalError(fmt::format("the batch has no kernel '{}'", kernel));
  }
  const Implementation::Kernel& entry = found->second;
  check_shape(kernel, shape, entry.bound);
  GlobalMemory memory(*entry.entry, arguments);

  const std::lock_guard lock(entry.unit->busy);
  Machine& machine = *entry.unit->table->machine;
  machine.buffers = memory.buffers().data();
  machine.buffer_count = static_cast<unsigned int>(memory.buffers().size());
  Scheduler(machine, *entry.entry, memory.values().data(), shape).run();
  memory.finish();
  return memory.traffic();
}

}  // namespace heddle::emulator
