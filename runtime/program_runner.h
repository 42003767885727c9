#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ir/fork_gate.h"
#include "runtime/capture.h"
#include "runtime/image.h"
#include "runtime/kernel_run.h"
#include "runtime/lanes.h"
#include "runtime/launcher.h"
#include "runtime/products.h"
#include "runtime/schedule.h"

namespace heddle::runtime {

/// Runs a loaded program: finds the lane of such a call, which has everything prepared, finds
/// memory, and enqueues the actions in order; as CUDA graphs when such calls repeat.
class ProgramRunner {
 public:
  ProgramRunner(passes::Program program, std::unique_ptr<KernelLauncher> launcher)
      : program_(std::move(program)), launcher_(std::move(launcher)) {}
  ~ProgramRunner();

  const passes::Program& program() const { return program_; }
  /// As Executable::run.
  void run(std::span<const ArgumentView> arguments, Stream& stream,
           std::vector<DeviceArray>& outputs, const CallerLines& lines = {});

 private:
  Lanes::Lease lane_for(std::span<const ArgumentView> arguments, const Stream& stream,
                        const ir::Graph* graph);
  std::shared_ptr<const Schedule> schedule_for(std::span<const ArgumentView> arguments,
                                               const ir::Graph* graph);
  void prepare_graph(const Lanes::Lease& lane, const Frame& frame, Device device);
  void enqueue(Lane& lane, const Frame& frame, const Stream& stream, const CaptureScope& capture);
  void enqueue_watched(Lane& lane, const Frame& frame, const WatchedCall& call,
                       const Stream& stream, const CaptureScope& capture);
  void enqueue_one(const Action& action, Lane& lane, const Frame& frame, const Stream& stream,
                   const CaptureScope& capture);

  passes::Program program_;
  std::unique_ptr<KernelLauncher> launcher_;
  Products products_{program_};
  ir::Mutex mutex_;                                         ///< guards the next
  std::vector<std::shared_ptr<const Schedule>> schedules_;  ///< most recent first, a few
  /// Behind what they refer to, so that they go first. Shared with what gives up graphs when memory
  /// is short.
  std::shared_ptr<Lanes> lanes_ = std::make_shared<Lanes>();
  std::once_flag gives_up_graphs_;
  int reclaimer_ = -1;
};

}  // namespace heddle::runtime
