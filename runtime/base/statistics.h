#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::runtime {

/// Counts since the process started.
struct Statistics {
  std::atomic<std::uint64_t> programs_made{0};  ///< executables built, from disk or by compiling
  std::atomic<std::uint64_t> program_hits{0};   ///< executables found in memory
  std::atomic<std::uint64_t> program_launches{0};
  std::atomic<std::uint64_t> kernel_launches{0};
  std::atomic<std::uint64_t> modules_loaded{0};
  std::atomic<std::uint64_t> load_nanoseconds{0};  ///< total time of these loads

  double load_milliseconds() const { return static_cast<double>(load_nanoseconds.load()) / 1e6; }
};

/// Never destroyed.
Statistics& statistics();

}  // namespace heddle::runtime
