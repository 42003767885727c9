#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "runtime/device/stream.h"
#include "runtime/launch/frame.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// Relates a GPU's time to the host's.
struct DeviceClock;

/// When a device worked on something, and where the host was late, waited for it.
struct DeviceTime {
  ir::SpanData::Clock::time_point start;
  double microseconds = 0;
};

/// What a span of Phase::kernel is about: one launch, fill or library call of a program. The span's
/// name is the kernel's, or "fill_bytes", "matmul_f32", "sort_f32" of what is no kernel of ours.
struct KernelRun final : ir::SpanDetail {
  std::string program;
  std::uint32_t step = 0;             ///< of the program
  std::string operands;               ///< "f32[8,1024], f32[1024] -> f32[8,1024]"
  std::optional<std::int64_t> bytes;  ///< of memory that it moves, where that is known
  std::int64_t blocks = 0;            ///< on the CPU the length of the range; 0 of a library
  std::uint32_t threads[2] = {0, 0};  ///< of a block, along x and y
  std::uint32_t cluster = 1, shared_bytes = 0;
  Device device;
  std::uint32_t stream = 0;         ///< StreamState::number
  std::vector<ir::Location> lines;  ///< of the user's program, in its order, each once
  bool captured = false;            ///< into a user's CUDA graph, so that it runs there
  bool enqueued = false;            ///< without an error

  /// Marks on a GPU's stream, before and after. None where the device is the CPU, whose time is the
  /// span's, and of what is captured or has failed.
  void mark_begin(const Stream& stream);
  void mark_end(const Stream& stream);
  /// Nullopt of what nobody has timed, and of what the device has not finished unless that is
  /// waited for. Thread-safe. Throws DeviceError.
  std::optional<DeviceTime> device_time(bool wait) const;
  /// Whether device_time() may still answer otherwise than it does now.
  bool pending() const;

 private:
  mutable ir::Mutex mutex_;  ///< guards what follows
  mutable std::optional<Event> begin_, end_;
  mutable std::optional<DeviceTime> time_;
  std::shared_ptr<const DeviceClock> clock_;
};

/// What `span` is about; null where it is no kernel's. Only spans of Phase::kernel have a detail.
inline const KernelRun* kernel_run_of(const ir::SpanData& span) {
  if (span.phase != ir::Phase::kernel) return nullptr;
  return static_cast<const KernelRun*>(span.detail.get());
}

/// When the device worked on what the span is about, as KernelRun::device_time says; on the CPU the
/// span's own time. Nullopt of other spans.
std::optional<DeviceTime> device_time(const ir::SpanData& span, bool wait);

/// The actions of one call, as somebody watches them.
class WatchedCall {
 public:
  /// Refers to all that it is given.
  WatchedCall(const passes::Program& program, const Schedule& schedule,
              std::span<const ArgumentView> arguments, const CallerLines& lines,
              const Stream& stream, bool captured);

  /// Does `enqueue`, which enqueues the action, in a span of its own, between two timed events.
  /// What it throws is thrown; that nothing could be timed is not.
  void run(const Action& action, const std::function<void()>& enqueue) const;

 private:
  std::string name_of(const Action& action) const;
  std::shared_ptr<KernelRun> describe(const Action& action) const;
  std::string type_of(const passes::BufferRef& buffer) const;
  std::string operands_of(const passes::Step& step, const Action& action) const;
  std::vector<ir::Location> lines_of(const passes::Step& step) const;

  const passes::Program& program_;
  const Prepared& prepared_;
  std::span<const ArgumentView> arguments_;
  const CallerLines& lines_;
  std::vector<ir::ValueId> order_;  ///< of the caller's graph
  std::vector<int> actions_;        ///< per step, fills not counted
  const Stream& stream_;
  bool captured_;
};

}  // namespace heddle::runtime
