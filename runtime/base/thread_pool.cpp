#include "runtime/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"

namespace heddle::runtime {

namespace {

/// One parallel_for. It lives on the caller's stack; the caller returns only when no worker is
/// inside.
class Job {
 public:
  Job(std::int64_t begin, std::int64_t end, std::int64_t grain, detail::RangeFunction function,
      void* context)
      : begin_(begin), end_(end), grain_(grain), function_(function), context_(context) {
    pieces_ = (end - begin - 1) / grain + 1;
  }

  std::int64_t pieces() const { return pieces_; }
  bool keeps_forks_waiting() const { return in_section_; }
  bool exhausted() const { return next_.load(std::memory_order_relaxed) >= pieces_; }

  void work() noexcept {
    for (;;) {
      const std::int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces_) return;
      const std::int64_t from = begin_ + piece * grain_;
      const std::int64_t to = end_ - from > grain_ ? from + grain_ : end_;
      try {
        function_(context_, from, to);
      } catch (...) {
        keep(piece, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  std::atomic<int> workers{0};  ///< number of workers inside work(); incremented only under the
                                ///< pool's mutex

 private:
  void keep(std::int64_t piece, std::exception_ptr failure) {
    std::lock_guard lock(mutex_);
    if (piece < failed_piece_) {
      failed_piece_ = piece;
      failure_ = std::move(failure);
    }
    next_.store(pieces_, std::memory_order_relaxed);
  }

  std::int64_t begin_, end_, grain_, pieces_ = 0;
  detail::RangeFunction function_;
  void* context_;
  bool in_section_ = ir::in_fork_section();
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::int64_t failed_piece_ = std::numeric_limits<std::int64_t>::max();
};

thread_local bool inside_piece = false;

/// Prevents dlclose() from unloading the object that contains this code, because the pool's threads
/// never end and run it.
void keep_code_loaded() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&keep_code_loaded), &own) != 0 && own.dli_fname != nullptr)
    dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

class Pool {
 public:
  explicit Pool(int workers) {
    if (workers > 0) keep_code_loaded();
    try {
      for (int i = 0; i < workers; ++i) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error& failure) {
      log().warn("some worker threads could not be started ({}); continuing with fewer threads",
                 failure.what());
    }
  }

  void run(Job& job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
      arrivals_.fetch_add(1);
    }
    if (job.pieces() == 2) {
      work_.notify_one();
    } else {
      work_.notify_all();
    }
    inside_piece = true;
    job.work();
    inside_piece = false;
    std::unique_lock lock(mutex_);
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), &job), jobs_.end());
    if (job.workers == 0) return;
    lock.unlock();
    if (look_out([&] { return job.workers == 0; })) return;
    lock.lock();
    done_.wait(lock, [&] { return job.workers == 0; });
  }

 private:
  void serve() {
    inside_piece = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (jobs_.empty()) {
        const std::uint64_t seen = arrivals_.load();
        lock.unlock();
        look_out([&] { return arrivals_.load() != seen; });
        lock.lock();
        work_.wait(lock, [&] { return !jobs_.empty(); });
      }
      Job* const job = jobs_.front();
      if (job->exhausted()) {
        jobs_.pop_front();
        continue;
      }
      ++job->workers;
      lock.unlock();
      {
        std::optional<ir::SharedForkSection> section;
        if (job->keeps_forks_waiting()) section.emplace();
        job->work();
      }
      lock.lock();
      if (!jobs_.empty() && jobs_.front() == job) jobs_.pop_front();
      if (--job->workers == 0) done_.notify_all();
    }
  }

  /// Spins for a while without sleeping. Kernels follow one another closely, and waking a thread
  /// takes longer than many of them run. Returns true if the condition was met.
  template <class Condition>
  static bool look_out(Condition&& came) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
    while (!came()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::mutex mutex_;
  std::atomic<std::uint64_t> arrivals_{0};  ///< jobs ever queued
  std::condition_variable work_, done_;
  std::deque<Job*> jobs_;
};

/// Leaked: workers may still wait on it while static objects are destroyed. A forked child has
/// none of the threads, so it forgets the pool and starts another when it needs one.
constinit std::atomic<Pool*> the_pool{nullptr};
constinit ir::Mutex starting;

Pool& pool() {
  if (Pool* ready = the_pool.load(std::memory_order_acquire)) return *ready;
  std::lock_guard lock(starting);
  if (Pool* ready = the_pool.load(std::memory_order_acquire)) return *ready;
  static std::once_flag once;
  std::call_once(once, [] { ir::in_forked_child([] { the_pool.store(nullptr); }); });
  auto* made = new Pool(thread_count() - 1);
  the_pool.store(made, std::memory_order_release);
  return *made;
}

int processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int read_thread_count() {
  return static_cast<int>(ir::number(ir::Variable::num_threads).value_or(processors()));
}

}  // namespace

int thread_count() {
  static constinit ir::LazyStatic<int> count;
  return count.get(read_thread_count);
}

void detail::parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                          RangeFunction function, void* context) {
  if (begin >= end) return;
  Job job(begin, end, std::max<std::int64_t>(1, grain), function, context);
  if (job.pieces() == 1 || inside_piece || thread_count() == 1) {
    job.work();
  } else {
    pool().run(job);
  }
  job.rethrow();
}

}  // namespace heddle::runtime
