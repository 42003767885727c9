#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heddle/profile_data.h"

namespace heddle {

namespace ir {
class Span;
}
namespace runtime {
class Profiler;
}

/// Records the library's work while the object exists, on all threads: tracing, passes, printing,
/// compiling, loading, allocating, launching, and the device time of each kernel. During this time
/// kernels are launched one by one, not as CUDA graphs; the results are bitwise the same. On a GPU,
/// the time of a kernel that follows an idle device includes its launch latency of microseconds.
/// Launches that the user captures into a CUDA graph are listed without times. Profiles nest: each
/// one records everything. Any thread may destroy one, at any time. Reading a profile waits for the
/// devices, and throws DeviceError if they have failed.
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(Profile&&) noexcept;
  Profile& operator=(Profile&&) noexcept;

  /// Stops recording. Recorded events are kept.
  void stop();
  /// Events in the order of their start; at most the last 1,048,576.
  std::vector<ProfileEvent> events() const;
  /// One row for each phase that has events.
  std::vector<ProfileRow> rows() const;
  /// One row for each name in a phase ("kernel", "pass" ...), the longest time first. ValueError
  /// for an unknown phase.
  std::vector<ProfileRow> rows(const std::string& phase) const;
  /// The rows as text.
  std::string table() const;
  /// The events as JSON that chrome://tracing and ui.perfetto.dev read.
  std::string trace() const;
  /// The same into a file. FileError.
  void save_trace(const std::string& path) const;

 private:
  std::unique_ptr<runtime::Profiler> profiler_;
};

/// Names a part of the program, on this thread until the end of the scope: an event of the phase
/// "range" in profiles, and an NVTX range for Nsight Systems. Work that was recorded before runs
/// when it is evaluated, which may be later.
class TimeRange {
 public:
  explicit TimeRange(const std::string& message);
  ~TimeRange();
  TimeRange(const TimeRange&) = delete;
  TimeRange& operator=(const TimeRange&) = delete;

 private:
  std::unique_ptr<ir::Span> span_;
};

/// Starts or stops the recording of a profiler that waits for this, as `nsys profile
/// --capture-range=cudaProfilerApi` does. Throws DeviceError.
void set_profiling(bool on);

/// Keeps the last `count` launches of this process from now on, and discards earlier ones; 0
/// (default) keeps none. While count > 0, kernels are launched one by one, as with a Profile.
/// HEDDLE_KERNEL_HISTORY=count sets it at the start. For all threads.
void set_kernel_history(std::size_t count);
/// The kept launches, oldest first, with their device times. Waits for the device. Throws
/// DeviceError.
std::vector<KernelLaunch> kernel_history();

}  // namespace heddle
