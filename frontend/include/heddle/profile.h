#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heddle/profile_data.h"

namespace heddle {

namespace runtime {
class Profiler;
}

/// Collects what the library does while it lives, on all threads: tracing, passes, printing,
/// compiling, loading, allocating, launching, and how long each kernel takes on its device. Kernels
/// are launched one by one while a profile lives, not as CUDA graphs; results are the same bits. On
/// a GPU a kernel that follows an idle device counts the microseconds in which it is launched.
/// Launches that the user captures into a CUDA graph are listed without times. Profiles nest: each
/// has all. Any thread may destroy it, whatever others do. What is asked of it waits for the
/// devices, and throws DeviceError where these have failed.
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(Profile&&) noexcept;
  Profile& operator=(Profile&&) noexcept;

  /// Collects no more. What was collected stays.
  void stop();
  /// In the order of their beginnings; at most the last 1,048,576.
  std::vector<ProfileEvent> events() const;
  /// A row for each phase that anything happened in.
  std::vector<ProfileRow> rows() const;
  /// Of one phase ("kernel", "pass" ...) a row for each name, the longest time first. ValueError
  /// for a phase that there is none of.
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

/// Keeps the last `count` launches of this process from now on, and forgets those before; 0 keeps
/// none (default). While it keeps any, kernels are launched one by one, as for a Profile.
/// HEDDLE_KERNEL_HISTORY=count does it from the start. For all threads.
void set_kernel_history(std::size_t count);
/// Those launches, the oldest first, with their times on the device, which is waited for. Throws
/// DeviceError.
std::vector<KernelLaunch> kernel_history();

}  // namespace heddle
