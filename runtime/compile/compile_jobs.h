#pragma once

#include <optional>
#include <utility>

namespace heddle::runtime {

/// Compiler processes that this process runs at once: HEDDLE_COMPILE_JOBS, else thread_count().
int compile_job_limit();

/// The right to run one of them, shared among all threads. It is given back by the thread that got
/// it.
class CompileJob {
 public:
  /// None while compile_job_limit() of them are held.
  static std::optional<CompileJob> try_begin();
  /// Waits for one, unless this thread has some. Throws Interrupted.
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
