#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <vector>

/// Keeps the library usable in the child of a fork, even if other threads were using the library
/// when the process forked.
///
/// The child has one thread. A lock that another thread held stays locked there for ever, and the
/// data that it guards is half-written. So fork() waits until no other thread is in a critical
/// section. Every lock of the library is a Mutex or a SharedMutex, and holding one is a section.
/// Code whose effects must be complete or absent runs in a ForkSection. Threads that want to enter
/// a section wait until the fork is done.
///
/// Sections are short: at most as long as a program that runs on the CPU. Code in a section never
/// waits for code outside the library (which might wait for the forking thread), nor for a thread
/// that is not in a section. Longer work, such as compiling, is not a section: a thread claims it,
/// and the claim holds the fork generation. The child treats claims of an earlier generation as
/// given up.
///
/// A library that is called in a section may itself fork to start a helper program (cuInit does).
/// That fork does not wait, since another thread in a section may wait for a lock that the forking
/// thread holds. Its child may find locks locked, so it may only call exec.
///
/// Static variables that take long to initialise are LazyStatic. in_forked_child() registers
/// functions that recreate what the child lacks, such as threads.
namespace heddle::ir {

namespace detail {

/// The section depth of one thread. Never freed: when the thread ends, another thread reuses it.
struct alignas(64) SectionState {
  /// The number of nested sections, and the flag has_afterwards: functions are to be called after
  /// the outermost section.
  std::atomic<std::uint32_t> state{0};
  static constexpr std::uint32_t has_afterwards = 1U << 31, depth_bits = has_afterwards - 1;
  std::atomic<bool> owned{true};
  SectionState* next = nullptr;
  std::vector<std::function<void()>> afterwards;

  std::uint32_t depth() const { return state.load(std::memory_order_acquire) & depth_bits; }
};

struct Gate {
  /// Zero: a thread may enter a section without further checks.
  std::atomic<std::uint32_t> guard{0};
  static constexpr std::uint32_t closed = 1;
  static constexpr std::uint32_t fences = 2;  ///< no membarrier: entering needs a fence
  std::atomic<std::uint64_t> generation{0};
  std::atomic<SectionState*> all{nullptr};
};
extern constinit Gate gate;
inline constinit thread_local SectionState* presence = nullptr;

SectionState& add_presence();
void pass_guard(SectionState& own);
void run_afterwards(SectionState& own);

inline void enter_section() {
  SectionState& own = presence != nullptr ? *presence : add_presence();
  const std::uint32_t state = own.state.load(std::memory_order_relaxed);
  own.state.store(state + 1, std::memory_order_relaxed);
  if (state != 0) return;
  // When the gate closes, fence_all_threads() makes this a processor fence as well.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (gate.guard.load(std::memory_order_relaxed) != 0) [[unlikely]]
    pass_guard(own);
}

inline void leave_section() {
  SectionState& own = *presence;
  const std::uint32_t state = own.state.load(std::memory_order_relaxed) - 1;
  own.state.store(state, std::memory_order_release);
  if (state == SectionState::has_afterwards) [[unlikely]]
    run_afterwards(own);
}

}  // namespace detail

/// The number of forks between the process that first used the library and this one. It is one more
/// in a forked child than in its parent.
inline std::uint64_t fork_generation() {
  return detail::gate.generation.load(std::memory_order_relaxed);
}

/// Whether this thread is in a section.
bool in_fork_section();

/// No fork happens during the lifetime of a ForkSection. Sections nest.
class ForkSection {
 public:
  ForkSection() { detail::enter_section(); }
  ~ForkSection() { detail::leave_section(); }
  ForkSection(const ForkSection&) = delete;
  ForkSection& operator=(const ForkSection&) = delete;
};

/// A ForkSection for a thread that works on behalf of another thread, which stays in its section
/// until the work is done. Enters even while a fork waits for sections to end.
class SharedForkSection {
 public:
  SharedForkSection();
  ~SharedForkSection() { detail::leave_section(); }
  SharedForkSection(const SharedForkSection&) = delete;
  SharedForkSection& operator=(const SharedForkSection&) = delete;
};

/// Leaves all of this thread's sections for its lifetime. The thread must hold no lock of the
/// library.
class ForkPause {
 public:
  ForkPause();
  ~ForkPause();
  ForkPause(const ForkPause&) = delete;
  ForkPause& operator=(const ForkPause&) = delete;

 private:
  std::uint32_t depth_;
};

/// Calls a function from outside the library: at once, or after this thread has left its sections.
void outside_fork_sections(std::function<void()> function);

/// Registers `function` to be called in each forked child, once, before fork() returns there. At
/// most 16 functions.
void in_forked_child(void (*function)());
/// To be called after a library was opened that registers fork handlers, which may wait for threads
/// that are in sections. Registers our handlers again, so that a fork waits for sections before it
/// calls those handlers.
void fork_after_sections();

/// A std::mutex that no other thread holds at a fork.
class Mutex {
 public:
  void lock() {
    detail::enter_section();
    mutex_.lock();
  }
  bool try_lock() {
    detail::enter_section();
    if (mutex_.try_lock()) return true;
    detail::leave_section();
    return false;
  }
  void unlock() {
    mutex_.unlock();
    detail::leave_section();
  }

 private:
  std::mutex mutex_;
};

/// A std::shared_mutex that no other thread holds at a fork.
class SharedMutex {
 public:
  void lock() {
    detail::enter_section();
    mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
    detail::leave_section();
  }
  void lock_shared() {
    detail::enter_section();
    mutex_.lock_shared();
  }
  void unlock_shared() {
    mutex_.unlock_shared();
    detail::leave_section();
  }

 private:
  std::shared_mutex mutex_;
};

/// A std::condition_variable for a Mutex. The awaited event must not need a section that this
/// thread is in.
class Condition {
 public:
  void notify_all();
  /// Returns after a notification; may also return without one.
  void wait(std::unique_lock<Mutex>& lock);
  /// As wait(), with a time limit. False if the time has passed.
  bool wait_for(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time);
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, const Predicate& holds) {
    while (!holds()) wait(lock);
  }

 private:
  bool wait_until_counted(std::unique_lock<Mutex>& lock, const timespec* limit);

  std::atomic<std::uint32_t> count_{0};  ///< counts notifications; also the futex
  std::atomic<std::uint32_t> waiting_{0};
};

/// A recursive mutex for long work that may call code outside the library, which may lock it again
/// on the same thread. Holding it does not delay a fork; in the child it is free. Meets the
/// requirements of Lockable.
class LongMutex {
 public:
  void lock() {
    lock([](Condition& freed, std::unique_lock<Mutex>& own, const auto& is_free) {
      freed.wait(own, is_free);
    });
  }
  /// `wait(condition, lock, is_free)` returns once is_free() is true, or throws.
  template <class Wait>
  void lock(const Wait& wait) {
    std::unique_lock own(mutex_);
    const pthread_t thread = pthread_self();
    wait(freed_, own, [&] { return holder_ != current() || pthread_equal(thread_, thread) != 0; });
    if (holder_ != current()) depth_ = 0;
    holder_ = current();
    thread_ = thread;
    ++depth_;
  }
  void unlock() {
    {
      const std::lock_guard own(mutex_);
      if (depth_ > 0 && --depth_ > 0) return;
      holder_ = 0;
    }
    freed_.notify_all();
  }

 private:
  static std::uint64_t current() { return fork_generation() + 1; }
  Mutex mutex_;
  Condition freed_;
  std::uint64_t holder_ = 0;  ///< fork generation + 1 when it was locked; 0: free
  pthread_t thread_{};        ///< the thread that holds it
  int depth_ = 0;             ///< how often that thread holds it
};

/// A value that one thread makes on first use, and that is never destroyed. No fork happens while
/// it is being made. For static variables: `static constinit LazyStatic<T> value;`.
template <class T>
class LazyStatic {
 public:
  /// `make` returns a T. If it throws, get() throws the same, and the next call tries again.
  template <class Make>
  T& get(const Make& make) {
    if (T* const ready = made_.load(std::memory_order_acquire)) return *ready;
    const std::lock_guard lock(mutex_);
    if (made_.load(std::memory_order_relaxed) == nullptr)
      made_.store(new T(make()), std::memory_order_release);
    return *made_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<T*> made_{nullptr};
  Mutex mutex_;
};

}  // namespace heddle::ir
