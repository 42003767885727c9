#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/cache/image.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/kernel_run.h"
#include "runtime/launch/launch_cache.h"
#include "runtime/launch/launcher.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// Runs a loaded program: finds or makes the launch cache entry for the call, allocates memory, and
/// enqueues the actions in order; as graphs when such calls repeat.
class ProgramRunner {
 public:
  ProgramRunner(passes::Program program, std::unique_ptr<KernelLauncher> launcher)
      : program_(std::move(program)),
        launcher_(std::move(launcher)),
        refused_(program_.steps.size()) {}
  ~ProgramRunner();

  const passes::Program& program() const { return program_; }
  void prepare_run() { launcher_->prepare_run(); }
  /// See Executable::run.
  void run(std::span<const ArgumentView> arguments, Stream& stream,
           std::vector<DeviceArray>& outputs, const CallerLocations& lines = {});

 private:
  LaunchCache::Lease cache_entry_for(std::span<const ArgumentView> arguments, const Stream& stream,
                                     const ir::Graph* graph);
  std::shared_ptr<Schedule> schedule_for(std::span<const ArgumentView> arguments, Device device,
                                         const ir::Graph* graph);
  BufferRef compute_constants(const LaunchCache::Lease& entry, const Stream& stream,
                              const CaptureScope& capture, const WatchedCall* watch);
  void release_when_memory_is_short();
  void prepare_graph(const LaunchCache::Lease& entry, const Frame& frame);
  void enqueue(LaunchCacheEntry& entry, const CallBuffers& frame, bool captured);
  void enqueue_watched(LaunchCacheEntry& entry, const CallBuffers& frame, const WatchedCall& call);
  void enqueue_one(const Action& action, ArgumentSlots& arguments, const CallBuffers& frame,
                   const Prepared& prepared);
  /// A launch or a fill.
  void enqueue_work(const Action& action, ArgumentSlots& arguments, const Stream& stream);
  void enqueue_call(const Action& action, const CallBuffers& frame, const Prepared& prepared);
  void run_fallback(const ScheduledFallback& fallback, const CallBuffers& frame,
                    const Prepared& prepared);

  passes::Program program_;
  std::unique_ptr<KernelLauncher> launcher_;
  /// For each step: its handler has refused the call once, independently of the sizes.
  std::vector<std::atomic<bool>> refused_;
  ir::Mutex mutex_;                                   ///< guards schedules_
  std::vector<std::shared_ptr<Schedule>> schedules_;  ///< most recent first, a few
  /// Declared after the members that it refers to, so that it is destroyed first. Shared with the
  /// reclaimer that releases its entries' memory when memory is short.
  std::shared_ptr<LaunchCache> cache_ = std::make_shared<LaunchCache>();
  std::once_flag releases_memory_;
  int reclaimer_ = -1;
};

}  // namespace heddle::runtime
