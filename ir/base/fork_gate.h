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

/// What keeps the library usable in the child of a fork that another thread's work runs into.
///
/// The child has one thread. A lock that another thread held stays locked there for ever, and what
/// the lock guards is half-written. So fork() waits until no thread is in a critical section: every
/// lock of the library is a Mutex or SharedMutex, which are sections while they are held, and code
/// whose effects must be all there or not at all stands in a ForkSection. Threads that want to
/// enter one wait until the fork is done.
///
/// Sections are short, or at most as long as a program that runs on the CPU. They never wait for
/// code that is not the library's (it might wait for the thread that forks), nor for a thread
/// outside of sections. Work that takes longer, such as compiling, is claimed instead, and the
/// claim names the fork generation: the child takes claims of an earlier generation as given up.
///
/// A library that is called in a section may itself fork, for a helper program that the child
/// becomes (cuInit does). That fork waits for nobody, since another thread in a section may wait
/// for a lock that the forking thread holds. Its child may find locks locked, so it may only call
/// exec.
///
/// A function's static variable that takes long to make is a Lasting; threads and what else the
/// child lacks are made anew by a function that in_forked_child() names.
namespace heddle::ir {

namespace detail {

/// How deep one thread is in sections. Never freed: another thread's takes it over.
struct alignas(64) Presence {
  /// How many sections it is in, and whether functions are to be called after the last.
  std::atomic<std::uint32_t> state{0};
  static constexpr std::uint32_t has_afterwards = 1U << 31, depth_bits = has_afterwards - 1;
  std::atomic<bool> owned{true};
  Presence* next = nullptr;
  std::vector<std::function<void()>> afterwards;

  std::uint32_t depth() const { return state.load(std::memory_order_acquire) & depth_bits; }
};

struct Gate {
  /// Zero where a thread may enter without a look at anything else.
  std::atomic<std::uint32_t> guard{0};
  static constexpr std::uint32_t closed = 1;
  static constexpr std::uint32_t fences = 2;  ///< the system cannot fence other threads
  std::atomic<std::uint64_t> generation{0};
  std::atomic<Presence*> all{nullptr};
};
extern constinit Gate gate;
inline constinit thread_local Presence* presence = nullptr;

Presence& add_presence();
void pass_guard(Presence& own);
void run_afterwards(Presence& own);

inline void enter_section() {
  Presence& own = presence != nullptr ? *presence : add_presence();
  const std::uint32_t state = own.state.load(std::memory_order_relaxed);
  own.state.store(state + 1, std::memory_order_relaxed);
  if (state != 0) return;
  // Who closes the gate makes this a fence of the processor too.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (gate.guard.load(std::memory_order_relaxed) != 0) [[unlikely]]
    pass_guard(own);
}

inline void leave_section() {
  Presence& own = *presence;
  const std::uint32_t state = own.state.load(std::memory_order_relaxed) - 1;
  own.state.store(state, std::memory_order_release);
  if (state == Presence::has_afterwards) [[unlikely]]
    run_afterwards(own);
}

}  // namespace detail

/// How often this process and those that it was forked from have forked since the library's first
/// use.
inline std::uint64_t fork_generation() {
  return detail::gate.generation.load(std::memory_order_relaxed);
}

/// Whether this thread is in a section.
bool in_fork_section();

/// No fork happens while one lives. They nest.
class ForkSection {
 public:
  ForkSection() { detail::enter_section(); }
  ~ForkSection() { detail::leave_section(); }
  ForkSection(const ForkSection&) = delete;
  ForkSection& operator=(const ForkSection&) = delete;
};

/// For a thread that works for another, which is in a section until it is done: as ForkSection, but
/// enters while a fork waits.
class SharedForkSection {
 public:
  SharedForkSection();
  ~SharedForkSection() { detail::leave_section(); }
  SharedForkSection(const SharedForkSection&) = delete;
  SharedForkSection& operator=(const SharedForkSection&) = delete;
};

/// Leaves the thread's sections for a while. It holds no lock then.
class ForkPause {
 public:
  ForkPause();
  ~ForkPause();
  ForkPause(const ForkPause&) = delete;
  ForkPause& operator=(const ForkPause&) = delete;

 private:
  std::uint32_t depth_;
};

/// Calls a function that is not the library's, now or when the thread has left its sections.
void outside_fork_sections(std::function<void()> function);

/// From now on the forked child calls `function`, once, before fork() returns there. At most 16.
void in_forked_child(void (*function)());
/// A library that was opened just now has handlers of its own for forks, which may wait for what
/// sections do: from now on sections are waited for before these are called.
void fork_after_sections();

/// std::mutex, which a fork finds free.
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

/// std::shared_mutex, which a fork finds free.
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

/// std::condition_variable for a Mutex. What is waited for must not need this thread's sections.
class Condition {
 public:
  void notify_all();
  /// Returns after a notification, and at times without one.
  void wait(std::unique_lock<Mutex>& lock);
  /// The same, at most for so long; false where the time has passed.
  bool wait_for(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time);
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, const Predicate& holds) {
    while (!holds()) wait(lock);
  }

 private:
  bool wait_until_counted(std::unique_lock<Mutex>& lock, const timespec* limit);

  std::atomic<std::uint32_t> count_{0};  ///< of notifications; a futex
  std::atomic<std::uint32_t> waiting_{0};
};

/// A mutex that is held for long, also while code that is not the library's runs, which may want it
/// too: the thread that holds it may lock it again. It does not keep a fork waiting; the child
/// takes it as free. Meets the requirements of a Lockable.
class LongMutex {
 public:
  void lock() {
    lock([](Condition& freed, std::unique_lock<Mutex>& own, const auto& is_free) {
      freed.wait(own, is_free);
    });
  }
  /// `wait(condition, lock, is_free)` returns when is_free(), or throws.
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
  std::uint64_t holder_ = 0;  ///< the generation that it was taken in, and 1; 0: free
  pthread_t thread_{};        ///< that holds it
  int depth_ = 0;             ///< how often
};

/// A value that is made when first asked for, by one thread, and never destroyed. No fork happens
/// while it is being made. For static variables: `static constinit Lasting<T> value;`.
template <class T>
class Lasting {
 public:
  /// `make` returns a T. What it throws is thrown here, and the next to ask tries anew.
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
