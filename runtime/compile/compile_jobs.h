#pragma once

#include <optional>
#include <utility>

namespace heddle::runtime {

/// Maximum number of compiler processes that this process runs at once: HEDDLE_COMPILE_JOBS, else
/// thread_count().
int compile_job_limit();

/// A permit to run one compiler process, from a counter shared by all threads. The thread that
/// acquired it must release it.
class CompileJob {
 public:
  /// nullopt while compile_job_limit() permits are held.
  static std::optional<CompileJob> try_begin();
  /// Waits for a permit; a thread that already holds one gets another at once. Throws Interrupted.
  static CompileJob begin();

  ~CompileJob();
  CompileJob(CompileJob&& other) noexcept : held_(std::exchange(other.held_, false)) {}
  CompileJob& operator=(CompileJob&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }

 private:
  CompileJob();
  bool held_ = true;
};

}  // namespace heddle::runtime
