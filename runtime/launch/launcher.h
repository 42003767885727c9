#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "passes/program/program.h"
#include "runtime/cache/image.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

class ArgumentSlots;
class ProgramGraph;
class Schedule;

/// Kernel arguments, each at the start of a slot, in the order of the step's parameters.
struct KernelArguments {
  std::span<const ir::ElementBits> slots;
  void** pointers = nullptr;  ///< to each
};

/// Runs the kernels of one program.
class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// `blocks` is at least 1; the device has been entered. Throws DeviceError.
  virtual void launch(const passes::KernelStep& step, std::int64_t blocks,
                      const KernelArguments& arguments, const Stream& stream) = 0;
  /// Whether the schedule's launches and fills can be made a graph.
  virtual bool can_make_graph(const Schedule&) const { return false; }
  /// A graph with the arguments as they are now. Holds `arena` for the calls to come, if it is
  /// given one. The device has been entered. Throws DeviceError, OutOfMemory.
  virtual std::unique_ptr<ProgramGraph> make_graph(const Schedule& schedule,
                                                   ArgumentSlots& arguments, BufferRef arena) const;
};

/// Counts the launch of a kernel, which fails where a test asks for that.
void count_launch(const std::string& name);

/// Loads a program's modules on a device. Throws DeviceError when they are refused.
std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device);

}  // namespace heddle::runtime
