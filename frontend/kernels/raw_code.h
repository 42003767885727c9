#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "ir/base/fork_gate.h"
#include "runtime/compile/raw_source.h"
#include "runtime/device/device.h"
#include "runtime/launch/raw_module.h"

namespace heddle::frontend {

/// A user's CUDA code, and its modules on the devices that have used it. Thread-safe.
class RawCode {
 public:
  explicit RawCode(runtime::RawSource source) : source_(std::move(source)) {}

  /// The module on a device; compiled and loaded at the first call. Throws CompileError,
  /// DeviceError, FileError.
  runtime::RawModule& module_on(runtime::Device device);

 private:
  struct Loaded {
    runtime::Device device;
    std::unique_ptr<runtime::RawModule> module;
  };

  runtime::RawSource source_;
  ir::LongMutex mutex_;  ///< compiling takes long
  std::vector<Loaded> loaded_;
};

/// The parameters of a launch, in order.
class LaunchParameters {
 public:
  /// A parameter of this value.
  void add_value(std::string bytes);
  /// A pointer into the memory of an evaluated array, `offset` bytes behind its first element.
  void add_memory(NodeRef array, std::int64_t offset = 0);
  /// The value of a variable in memory that a kernel may write: nothing else refers to it. It is
  /// evaluated, and copied if that is not so. The same variable gives the same memory again.
  NodeRef written(Array& variable);

  /// Launches the kernel. Its stream waits for the thread's and for those of the arrays' memory,
  /// and these for it. A null `stream` is the thread's stream. Throws CompileError, DeviceError.
  void launch(RawCode& code, const std::string& kernel, const runtime::LaunchShape& shape,
              void* stream) const;

 private:
  runtime::Device device() const;

  std::vector<std::string> values_;
  std::vector<NodeRef> arrays_;
  std::vector<std::pair<const Cell*, NodeRef>> variables_;
};

}  // namespace heddle::frontend
