#include "runtime/cuda/driver.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"

namespace heddle::runtime::cuda {

namespace {

std::atomic<bool> exiting{false}, forked{false};

struct Loaded {
  Driver table;
  bool bound = false;  ///< all required entries of the table are present
  int version = 0;
  std::string reason;
};

/// Fills the table. Returns the names of missing functions; empty on success.
std::string bind(const DynamicLibrary& library, Driver& table) {
  std::string missing;
  constexpr std::string_view required = "required";
#define HEDDLE_CUDA(name, symbol_name, need, parameters)       \
  table.name.bind(library.symbol(#symbol_name), #symbol_name); \
  if (!table.name && #need == required) missing += " " #symbol_name;
#include "runtime/cuda/driver.def"
#undef HEDDLE_CUDA
  return missing;
}

/// The first sticky error of each GPU.
struct Losses {
  ir::Mutex mutex;
  std::map<int, std::string> by_ordinal;
};
Losses& losses() {
  static auto* const instance = new Losses;
  return *instance;
}

constexpr int unknown_device = -1;

/// The GPU of the current context.
int current_ordinal(const Driver& table) {
  DeviceHandle device = 0;
  if (table.ctx_get_device.attempt(&device) != Result::success) return unknown_device;
  int count = 0;
  table.device_get_count.attempt(&count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    DeviceHandle handle = 0;
    if (table.device_get.attempt(&handle, ordinal) == Result::success && handle == device)
      return ordinal;
  }
  return unknown_device;
}

std::string name_of_device(int ordinal) {
  return ordinal == unknown_device ? "the GPU" : fmt::format("cuda:{}", ordinal);
}

/// Records a GPU's first message, and returns it.
std::string note_loss(int ordinal, const std::string& message) {
  const std::lock_guard lock(losses().mutex);
  return losses().by_ordinal.emplace(ordinal, message).first->second;
}

std::string describe(const Driver& table, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (table.get_error_name) table.get_error_name.attempt(result, &name);
  if (table.get_error_string) table.get_error_string.attempt(result, &text);
  return fmt::format("{} ({}): {}", name != nullptr ? name : "unknown error",
                     static_cast<int>(result), text != nullptr ? text : "no description");
}

/// Loads the driver. Returns why CUDA cannot be used; empty if it can.
std::string load(Loaded& out) {
  LibraryReport report;
  const auto library = DynamicLibrary::open({.title = "the CUDA driver",
                                             .names = {"libcuda.so.1"},
                                             .packages = {},
                                             .variable = ir::Variable::cuda_driver,
                                             .system_only = true},
                                            &report);
  if (!library) return report.text();
  if (const std::string missing = bind(*library, out.table); !missing.empty()) {
    return fmt::format(
        "the CUDA driver {} is too old: it lacks{}. Install a driver for CUDA 12.0 or newer.",
        library->path(), missing);
  }
  out.bound = true;
  if (const Result result = out.table.init.attempt(0); result != Result::success) {
    return fmt::format("cuInit of {} failed: {}", library->path(), describe(out.table, result));
  }
  ir::in_forked_child([] { forked.store(true); });
  // Registered after the driver's own handlers, so it runs before the driver is torn down.
  std::atexit([] { exiting.store(true); });
  out.table.driver_get_version(&out.version);
  int count = 0;
  if (const Result result = out.table.device_get_count.attempt(&count); result != Result::success) {
    return fmt::format("cuDeviceGetCount failed: {}", describe(out.table, result));
  }
  if (count == 0) return "the CUDA driver sees no device (check CUDA_VISIBLE_DEVICES)";
  return {};
}

const std::string& no_cuda_after_fork() {
  static const std::string& text = *new std::string(
      "it cannot be used in a process forked from a process that uses it. Start processes with "
      "spawn or forkserver (multiprocessing.set_start_method(\"spawn\")), fork before the first "
      "use of a GPU, or use the CPU in the child (set_device(\"cpu\"))");
  return text;
}

const Loaded& loaded() {
  static constinit ir::LazyStatic<Loaded> instance;
  return instance.get([] {
    Loaded made;
    try {
      made.reason = load(made);
    } catch (const Error& failure) {
      made.reason = failure.what();
    }
    if (!made.reason.empty()) log().debug("CUDA is not available: {}", made.reason);
    return made;
  });
}

}  // namespace

bool available() { return unavailable_reason().empty(); }

const std::string& unavailable_reason() {
  const Loaded& state = loaded();
  return forked.load(std::memory_order_relaxed) ? no_cuda_after_fork() : state.reason;
}

const Driver& driver() {
  const Loaded& state = loaded();
  if (!state.reason.empty() || forked.load(std::memory_order_relaxed)) [[unlikely]] {
    throw DeviceError(fmt::format("CUDA is not available: {}", unavailable_reason()));
  }
  return state.table;
}

int driver_version() { return loaded().version; }

bool unusable() {
  return exiting.load(std::memory_order_relaxed) || forked.load(std::memory_order_relaxed);
}

bool is_sticky(Result result) {
  switch (result) {
    case Result::ecc_uncorrectable:
    case Result::nvlink_uncorrectable:
    case Result::contained:
    case Result::illegal_address:
    case Result::launch_timeout:
    case Result::context_is_destroyed:
    case Result::assertion:
    case Result::hardware_stack_error:
    case Result::illegal_instruction:
    case Result::misaligned_address:
    case Result::invalid_address_space:
    case Result::invalid_pc:
    case Result::launch_failed:
      return true;
    default:
      return false;
  }
}

void check(Result result, const char* call, int ordinal) {
  if (result == Result::success) return;
  const Driver& table = loaded().table;
  std::string message = fmt::format("{} failed: {}", call, describe(table, result));
  if (result == Result::out_of_memory) throw OutOfMemory(message);
  if (is_sticky(result)) {
    if (ordinal == unknown_device) ordinal = current_ordinal(table);
    const std::string first = note_loss(ordinal, message);
    message = fmt::format(
        "{} has failed: {}. Earlier enqueued work failed, and nothing on this device can be used, "
        "read or freed until the process ends; compute-sanitizer shows which kernel failed",
        name_of_device(ordinal),
        first == message ? message : fmt::format("{}; now {}", first, message));
  }
  throw DeviceError(message);
}

std::string describe_loss(int ordinal) {
  if (ordinal == unknown_device && available()) ordinal = current_ordinal(loaded().table);
  const std::lock_guard lock(losses().mutex);
  const auto found = losses().by_ordinal.find(ordinal);
  if (found == losses().by_ordinal.end()) return {};
  return fmt::format(" {} failed earlier: {}", name_of_device(ordinal), found->second);
}

}  // namespace heddle::runtime::cuda
