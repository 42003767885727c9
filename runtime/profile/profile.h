#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/profile_data.h"

#include "ir/base/fork_gate.h"
#include "ir/base/span.h"

namespace heddle::runtime {

/// Collects spans from all threads. The devices' times are added later, when the devices have
/// finished. Beyond `most` spans, the oldest are dropped.
class SpanLog final : public ir::SpanWatcher {
 public:
  SpanLog(std::size_t most, bool only_kernels) : most_(most), only_kernels_(only_kernels) {}
  void end(const ir::SpanData& span) override;
  /// The spans in the order in which they ended. Waits for the devices. Throws DeviceError.
  std::vector<ir::SpanData> spans() const;
  std::uint64_t dropped() const;
  void clear();

 private:
  /// Reads the times of launches that have finished, oldest first, and releases their events.
  void settle_some();

  const std::size_t most_;
  const bool only_kernels_;
  mutable ir::Mutex mutex_;  ///< guards the members below
  std::deque<ir::SpanData> spans_;
  std::deque<std::shared_ptr<const ir::SpanDetail>> unsettled_;
  std::uint64_t dropped_ = 0;
};

/// Records spans of all threads from construction until stop() or destruction. Several profilers
/// may be active at once, and each records everything. Thread-safe.
class Profiler {
 public:
  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void stop();
  /// All events so far. Waits for the devices. Throws DeviceError.
  std::vector<ProfileEvent> events() const;
  /// One row per phase; with `phase`, one row per name in that phase. The longest time comes first.
  /// Throws DeviceError.
  std::vector<ProfileRow> rows() const;
  std::vector<ProfileRow> rows(ir::Phase phase) const;
  /// Both kinds of rows as text.
  std::string table() const;
  /// The events in the format of chrome://tracing and Perfetto: JSON with one event per line,
  /// threads and streams as rows, and arrows from launches to the kernels.
  std::string chrome_trace() const;

 private:
  double wall() const;  ///< microseconds
  ir::SpanData::Clock::time_point start_ = ir::SpanData::Clock::now();
  std::shared_ptr<SpanLog> log_;
  mutable ir::Mutex mutex_;  ///< guards stopped_
  std::optional<ir::SpanData::Clock::time_point> stopped_;
};

/// The kernel launch that the span describes, with times relative to `origin`; nullopt if the span
/// is no launch. Waits for the device. Throws DeviceError.
std::optional<KernelLaunch> launch_of(const ir::SpanData& span,
                                      ir::SpanData::Clock::time_point origin);

// In runtime/profile/profile_rows.cpp and runtime/profile/chrome_trace.cpp, which depend only on
// events.

std::vector<ProfileRow> rows_by_phase(const std::vector<ProfileEvent>& events);
std::vector<ProfileRow> rows_by_name(const std::vector<ProfileEvent>& events,
                                     std::string_view phase);
/// Both kinds of rows as a table. `wall` is the duration of the profile in microseconds.
std::string table_of(const std::vector<ProfileEvent>& events, double wall);
std::string chrome_trace_of(const std::vector<ProfileEvent>& events);

}  // namespace heddle::runtime
