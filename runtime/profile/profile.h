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

/// Spans as they come in, from all threads, with what devices say about them later. The oldest give
/// way when there are too many.
class SpanLog final : public ir::SpanWatcher {
 public:
  SpanLog(std::size_t most, bool only_kernels) : most_(most), only_kernels_(only_kernels) {}
  void end(const ir::SpanData& span) override;
  /// In the order in which they ended; devices are waited for. Throws DeviceError.
  std::vector<ir::SpanData> spans() const;
  std::uint64_t dropped() const;
  void clear();

 private:
  /// Events of the driver are given back as soon as they have passed, oldest first.
  void settle_some();

  const std::size_t most_;
  const bool only_kernels_;
  mutable ir::Mutex mutex_;  ///< guards what follows
  std::deque<ir::SpanData> spans_;
  std::deque<std::shared_ptr<const ir::SpanDetail>> unsettled_;
  std::uint64_t dropped_ = 0;
};

/// Watches from its construction until stop() or its destruction, whatever other threads do then.
/// Several may be at it at once, and each sees all. Thread-safe.
class Profiler {
 public:
  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void stop();
  /// All so far. Waits for the devices. Throws DeviceError.
  std::vector<ProfileEvent> events() const;
  /// A row a phase; or of one phase a row a name, the longest first. Throws DeviceError.
  std::vector<ProfileRow> rows() const;
  std::vector<ProfileRow> rows(ir::Phase phase) const;
  /// Both as text, for people.
  std::string table() const;
  /// The events as chrome://tracing and Perfetto read them: JSON with an event a line, threads and
  /// streams as rows, and arrows from launches to what they launch.
  std::string chrome_trace() const;

 private:
  double wall() const;  ///< microseconds
  ir::SpanData::Clock::time_point start_ = ir::SpanData::Clock::now();
  std::shared_ptr<SpanLog> log_;
  mutable ir::Mutex mutex_;  ///< guards stopped_
  std::optional<ir::SpanData::Clock::time_point> stopped_;
};

/// The launch that the span is about, with times since `origin`; waits for the device. Nullopt of
/// other spans. Throws DeviceError.
std::optional<KernelLaunch> launch_of(const ir::SpanData& span,
                                      ir::SpanData::Clock::time_point origin);

// Of runtime/profile/profile_rows.cpp and runtime/profile/chrome_trace.cpp, which only know events.

std::vector<ProfileRow> rows_by_phase(const std::vector<ProfileEvent>& events);
std::vector<ProfileRow> rows_by_name(const std::vector<ProfileEvent>& events,
                                     std::string_view phase);
/// Both as a table. `wall` is the profile's length in microseconds.
std::string table_of(const std::vector<ProfileEvent>& events, double wall);
std::string chrome_trace_of(const std::vector<ProfileEvent>& events);

}  // namespace heddle::runtime
