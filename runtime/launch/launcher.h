#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "passes/program/program.h"
#include "runtime/cache/image.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

class CallFrame;
class ProgramGraph;
class Schedule;
struct Action;

/// Enqueues a library call of a schedule on the frame's stream. Returns how many kernels it
/// launched instead, as its fallback.
using EnqueueCall = std::function<std::size_t(const Action& call, const CallFrame& frame)>;

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
  /// Whether some of the schedule's actions can be made graphs.
  virtual bool can_make_graph(const Schedule&) const { return false; }
  /// The schedule as graphs. Refers to the schedule. Holds `arena` for the runs to come, if it is
  /// given one. Library calls are captured while `enqueue_call` enqueues them. The device has been
  /// entered. Throws DeviceError.
  virtual std::unique_ptr<ProgramGraph> make_graph(const Schedule& schedule, BufferRef arena,
                                                   EnqueueCall enqueue_call) const;
};

/// Counts the launch of a kernel, which fails where a test asks for that.
void count_launch(const std::string& name);

/// Loads a program's modules on a device. Throws DeviceError when they are refused.
std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device);

}  // namespace heddle::runtime
