#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "ir/base/fork_gate.h"
#include "runtime/compile/raw_source.h"
#include "runtime/device/device.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"
#include "runtime/launch/raw_module.h"

namespace heddle::frontend {

/// A user's CUDA code, and its modules on the devices that have used it. Thread-safe.
class RawCode {
 public:
  explicit RawCode(runtime::RawSource source) : source_(std::move(source)) {}

  /// The module on a device; compiled and loaded at the first call. Throws CompileError,
  /// DeviceError, FileError.
  std::shared_ptr<runtime::RawModule> module_on(runtime::Device device);

 private:
  struct Loaded {
    runtime::Device device;
    std::shared_ptr<runtime::RawModule> module;
  };

  runtime::RawSource source_;
  ir::LongMutex mutex_;  ///< compiling takes long
  std::vector<Loaded> loaded_;
};

/// Calls a function that may wait.
using Waiting = std::function<void(const std::function<void()>&)>;

/// The parameters of a launch, in order.
class LaunchParameters {
 public:
  /// A parameter of this value. See LaunchValue for integers.
  void add_value(const void* value, std::size_t bytes, bool integer = false);
  /// A pointer into the memory of an evaluated array, `offset` bytes behind its first element.
  void add_memory(NodeRef array, std::int64_t offset = 0);
  /// The same for an array that the kernel only reads.
  void add_read_memory(NodeRef array);
  /// A pointer into memory of another library, on a device.
  void add_pointer(void* pointer, runtime::Device device);
  /// The value of a variable in memory that a kernel may write: nothing else refers to it. It is
  /// evaluated, and copied if that is not so; of empty(), the memory is left as it is. The same
  /// variable gives the same memory again. Whatever waits is called by `waiting`, and the variable
  /// is not used meanwhile.
  NodeRef written(Array& variable, const Waiting& waiting = [](const auto& call) { call(); });

  /// Launches the kernel. Its stream waits for the thread's, for those of the arrays' memory, and
  /// for those that still read what the kernel may write; the first two wait for it. A graph that
  /// is being captured keeps the memory and the module. A null `stream` is the thread's stream.
  /// Throws CompileError, DeviceError, ValueError.
  void launch(RawCode& code, const std::string& kernel, const runtime::LaunchShape& shape,
              void* stream) const;

 private:
  struct Memory {
    NodeRef array;  ///< null for other parameters
    bool written = false;
  };

  runtime::Device device() const;
  void wait_for_arrays(const runtime::Stream& stream) const;
  void let_arrays_wait(const runtime::Stream& stream) const;
  std::vector<runtime::BufferRef> buffers() const;
  bool enqueue(const std::shared_ptr<runtime::RawModule>& module, const std::string& kernel,
               const runtime::LaunchShape& shape, void* stream) const;

  runtime::LaunchValues values_;
  std::vector<Memory> arrays_;
  std::vector<runtime::Device> foreign_;  ///< of other libraries' memory
  std::vector<std::pair<const Cell*, NodeRef>> variables_;
};

}  // namespace heddle::frontend
