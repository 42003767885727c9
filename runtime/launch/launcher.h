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

class CallBuffers;
class ProgramGraph;
class Schedule;
struct Action;

/// Enqueues a library call of a schedule on the frame's stream.
using EnqueueCall = std::function<void(const Action& call, const CallBuffers& frame)>;

/// Kernel arguments in the order of the step's parameters. Each begins at the start of a slot.
struct KernelArguments {
  std::span<const ir::ElementBits> slots;
  void** pointers = nullptr;  ///< one to each argument
};

/// Runs the kernels of one program.
class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// `blocks` is at least 1; the device has been entered. Throws DeviceError.
  virtual void launch(const passes::KernelStep& step, std::int64_t blocks,
                      const KernelArguments& arguments, const Stream& stream) = 0;
  /// Called before a run, outside of fork sections: compiles kernels that run uncompiled if that
  /// pays by now. Throws Interrupted.
  virtual void prepare_run() {}
  /// Whether at least some of the schedule's actions can be put into graphs.
  virtual bool can_make_graph(const Schedule&) const { return false; }
  /// Makes graphs of the schedule. Keeps a reference to the schedule. Keeps `arena`, if given, for
  /// later runs. Library calls are captured while `enqueue_call` enqueues them. The device has been
  /// entered. Throws DeviceError.
  virtual std::unique_ptr<ProgramGraph> make_graph(const Schedule& schedule, BufferRef arena,
                                                   EnqueueCall enqueue_call) const;
};

/// Counts a kernel launch. Throws if a test has requested a fault here.
void count_launch(const std::string& name);

/// Loads a program's modules on a device. Throws DeviceError when they are refused.
std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device);

}  // namespace heddle::runtime
