#include "runtime/cuda_driver.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/log.h"

namespace heddle::runtime::cuda {

namespace {

std::atomic<bool> exiting{false};

struct Loaded {
  Driver table;
  bool bound = false;  ///< the table's required entries are all there
  int version = 0;
  std::string reason;
};

/// Empty on success, else the names that the library lacks.
std::string bind(const DynamicLibrary& library, Driver& table) {
  std::string missing;
  constexpr std::string_view required = "required";
#define HEDDLE_CUDA(name, symbol_name, need, parameters)       \
  table.name.bind(library.symbol(#symbol_name), #symbol_name); \
  if (!table.name && #need == required) missing += " " #symbol_name;
#include "runtime/cuda_driver.def"
#undef HEDDLE_CUDA
  return missing;
}

std::string describe(const Driver& table, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (table.get_error_name) table.get_error_name.attempt(result, &name);
  if (table.get_error_string) table.get_error_string.attempt(result, &text);
  return fmt::format("{} ({}): {}", name != nullptr ? name : "unknown error",
                     static_cast<int>(result), text != nullptr ? text : "no description");
}

/// The reason why CUDA cannot be used, empty when it can.
std::string load(Loaded& out) {
  LibraryReport report;
  const auto library = DynamicLibrary::open({.title = "the CUDA driver",
                                             .names = {"libcuda.so.1"},
                                             .packages = {},
                                             .variable = "HEDDLE_CUDA_DRIVER",
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

const Loaded& loaded() {
  static const Loaded* const instance = [] {
    auto* made = new Loaded;
    try {
      made->reason = load(*made);
    } catch (const Error& failure) {
      made->reason = failure.what();
    }
    if (!made->reason.empty()) log().debug("CUDA is not available: {}", made->reason);
    return made;
  }();
  return *instance;
}

}  // namespace

bool available() { return loaded().reason.empty(); }

const std::string& unavailable_reason() { return loaded().reason; }

const Driver& driver() {
  const Loaded& state = loaded();
  if (!state.reason.empty()) [[unlikely]] {
    throw DeviceError(fmt::format("CUDA is not available: {}", state.reason));
  }
  return state.table;
}

int driver_version() { return loaded().version; }

bool shutting_down() { return exiting.load(std::memory_order_relaxed); }

void check(Result result, const char* call) {
  if (result == Result::success) return;
  const std::string message = fmt::format("{} failed: {}", call, describe(loaded().table, result));
  if (result == Result::out_of_memory) throw OutOfMemory(message);
  throw DeviceError(message);
}

}  // namespace heddle::runtime::cuda
