#include "runtime/compile/compile_jobs.h"

#include <cstdint>
#include <mutex>
#include <utility>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/thread_pool.h"

namespace heddle::runtime {

namespace {

struct Held {
  ir::Mutex mutex;
  ir::Condition fewer;
  int count = 0;
  std::uint64_t generation = 0;  ///< the fork generation in which `count` is valid

  /// The number of jobs held. Reset in a forked child, which has none of the threads that held
  /// jobs. The mutex must be held.
  int& current() {
    if (std::exchange(generation, ir::fork_generation()) != ir::fork_generation()) count = 0;
    return count;
  }
};
constinit Held held;
constinit thread_local int held_here = 0;  ///< number held by this thread

int read_limit() {
  return static_cast<int>(ir::number(ir::Variable::compile_jobs).value_or(thread_count()));
}

}  // namespace

int compile_job_limit() {
  static const int limit = read_limit();
  return limit;
}

std::optional<CompileJob> CompileJob::try_begin() {
  const std::lock_guard lock(held.mutex);
  if (held.current() >= compile_job_limit()) return std::nullopt;
  return CompileJob();
}

CompileJob CompileJob::begin() {
  std::unique_lock lock(held.mutex);
  // If this thread already holds a job, and its interrupt hook compiles, waiting would be a
  // deadlock.
  wait_or_interrupt(held.fewer, lock,
                    [&] { return held_here > 0 || held.current() < compile_job_limit(); });
  return CompileJob();
}

CompileJob::CompileJob() {
  ++held.current();
  ++held_here;
}

CompileJob::~CompileJob() {
  if (!held_) return;
  --held_here;
  {
    const std::lock_guard lock(held.mutex);
    int& count = held.current();
    if (count > 0) --count;
  }
  held.fewer.notify_all();
}

}  // namespace heddle::runtime
