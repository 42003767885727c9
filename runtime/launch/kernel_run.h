#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "runtime/device/stream.h"
#include "runtime/launch/frame.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// Maps GPU time to host time.
struct DeviceClock;

/// When the device executed something, or, if the host enqueued it late, waited for it.
struct DeviceTime {
  ir::SpanData::Clock::time_point start;
  double microseconds = 0;
};

/// The detail of a span of Phase::kernel: one launch, fill or library call of a program. The span's
/// name is the kernel's name; for other work "fill_bytes", "matmul_f32", "sort_f32".
struct KernelRun final : ir::SpanDetail {
  std::string program;
  std::uint32_t step = 0;             ///< index in the program
  std::string operands;               ///< "f32[8,1024], f32[1024] -> f32[8,1024]"
  std::optional<std::int64_t> bytes;  ///< moved to or from memory, if known
  std::int64_t blocks = 0;            ///< on the CPU the length of the range; 0 for a library call
  std::uint32_t threads[2] = {0, 0};  ///< of a block, along x and y
  std::uint32_t cluster = 1, shared_bytes = 0;
  Device device;
  std::uint32_t stream = 0;         ///< StreamState::number
  std::vector<ir::Location> lines;  ///< of the user's program, in its order, without duplicates
  bool captured = false;            ///< into a user's CUDA graph; the kernel runs when the graph is
                                    ///< launched
  bool enqueued = false;            ///< enqueued without an error

  /// Record events on a GPU's stream, before and after. Nothing is recorded on the CPU, where the
  /// span's own time is used, nor for captured or failed work.
  void mark_begin(const Stream& stream);
  void mark_end(const Stream& stream);
  /// nullopt if it was not timed, or if the device has not finished and `wait` is false.
  /// Thread-safe. Throws DeviceError.
  std::optional<DeviceTime> device_time(bool wait) const;
  /// Whether a later device_time() may return a different result.
  bool pending() const;

 private:
  mutable ir::Mutex mutex_;  ///< guards the members below
  mutable std::optional<Event> begin_, end_;
  mutable std::optional<DeviceTime> time_;
  std::shared_ptr<const DeviceClock> clock_;
};

/// The KernelRun of a span; null if the span is not a kernel's. Only spans of Phase::kernel have a
/// detail.
inline const KernelRun* kernel_run_of(const ir::SpanData& span) {
  if (span.phase != ir::Phase::kernel) return nullptr;
  return static_cast<const KernelRun*>(span.detail.get());
}

/// When the device executed the span's work, as KernelRun::device_time defines it; on the CPU the
/// span's own time. nullopt for other spans.
std::optional<DeviceTime> device_time(const ir::SpanData& span, bool wait);

/// Runs the actions of one call while a profiler observes them.
class WatchedCall {
 public:
  /// Keeps references to all constructor arguments.
  WatchedCall(const passes::Program& program, const Schedule& schedule,
              std::span<const ArgumentView> arguments, const CallerLocations& lines,
              const Stream& stream, bool captured);

  /// Calls `enqueue`, which enqueues the action, in a span of its own between two timed events.
  /// Exceptions of `enqueue` are rethrown; a failure to record the events is ignored.
  void run(const Action& action, const std::function<void()>& enqueue) const;

 private:
  std::string name_of(const Action& action) const;
  std::shared_ptr<KernelRun> describe(const Action& action) const;
  std::string type_of(const passes::BufferRef& buffer) const;
  std::string operands_of(const passes::Step& step, const Action& action) const;
  std::vector<ir::Location> lines_of(std::span<const passes::Step> steps) const;

  const passes::Program& program_;
  const Prepared& prepared_;
  std::span<const ArgumentView> arguments_;
  const CallerLocations& lines_;
  std::vector<ir::ValueId> order_;  ///< of the caller's graph
  std::vector<int> actions_;        ///< number of actions per step, without fills
  const Stream& stream_;
  bool captured_;
};

}  // namespace heddle::runtime
