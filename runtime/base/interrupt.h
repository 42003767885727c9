#pragma once

#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "ir/base/fork_gate.h"

namespace heddle::runtime {

/// Thrown out of a wait that the user has ended, with Ctrl-C for example. The operation can be
/// repeated.
class Interrupted final : public std::exception {
 public:
  explicit Interrupted(std::exception_ptr cause) : cause(std::move(cause)) {}
  const char* what() const noexcept override { return "interrupted"; }
  std::exception_ptr cause;  ///< the exception that the hook returned
};

/// Called several times a second by threads that wait for compilers. Returns null to continue
/// waiting. It must not wait for a thread that is itself in such a wait.
using InterruptHook = std::exception_ptr (*)();
/// Sets the front end's hook. Null, the default, means none.
void set_interrupt_hook(InterruptHook hook);

/// Throws Interrupted if the hook returns an exception. Does not call the hook in a fork section:
/// the hook may wait for a thread that is forking (Python holds the GIL during a fork), and that
/// thread waits for the section.
void check_interrupt();
/// Interval between two calls of the hook in a wait.
inline constexpr std::chrono::milliseconds interrupt_interval{20};

/// Functions around a wait for another thread. `begin` releases what that thread may need, such as
/// an interpreter's lock, and returns what `end` needs to take it back; null if there is nothing.
/// They are called outside of fork sections, with no lock of the library held.
struct WaitHooks {
  void* (*begin)();
  void (*end)(void* released);
};
/// Sets the front end's hooks, for the lifetime of the process.
void set_wait_hooks(const WaitHooks* hooks);

namespace detail {
/// Null if there are no hooks, or in a fork section.
void* begin_wait();
void end_wait(void* released);
}  // namespace detail

/// While an instance lives, its thread calls check_interrupt() about every interrupt_interval.
class InterruptibleWait {
 public:
  using Clock = std::chrono::steady_clock;
  InterruptibleWait();
  ~InterruptibleWait();
  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;
  /// Whether any thread has an instance. Safe in a signal handler.
  static bool any() noexcept;

  /// Waits until `done()`, which is called with the lock held. The lock is released while the hook
  /// is called. The hook is called at every interrupt_interval even if `condition` is notified more
  /// often. Throws Interrupted.
  template <class Done>
  void wait(ir::Condition& condition, std::unique_lock<ir::Mutex>& lock, const Done& done) {
    while (!done()) {
      lock.unlock();
      void* const released = detail::begin_wait();
      lock.lock();
      try {
        wait_released(condition, lock, done);
      } catch (...) {
        detail::end_wait(released);
        throw;
      }
      if (released == nullptr) return;
      lock.unlock();
      detail::end_wait(released);
      lock.lock();
    }
  }

 private:
  /// Throws with the lock released.
  template <class Done>
  void wait_released(ir::Condition& condition, std::unique_lock<ir::Mutex>& lock,
                     const Done& done) {
    while (!done()) {
      const Clock::duration left = next_ - Clock::now();
      if (left > Clock::duration::zero()) {
        condition.wait_for(lock, std::chrono::ceil<std::chrono::milliseconds>(left));
        continue;
      }
      lock.unlock();
      check_interrupt();
      lock.lock();
      next_ = Clock::now() + interrupt_interval;
    }
  }

  Clock::time_point next_ = Clock::now() + interrupt_interval;  ///< when to call the hook next
};

namespace detail {
struct RunState {
  bool allowed = false;
  /// When the hook was last called, or the run's clock was first read.
  std::optional<std::chrono::nanoseconds> checked = {};
  std::chrono::nanoseconds looked{};  ///< when the clock was last read
  int left = 1, stride = 1;           ///< steps until the clock is read again
};
}  // namespace detail

/// While an instance lives, a program that this thread runs on the CPU may be interrupted between
/// its steps, if `allowed`. Instances nest; the innermost one counts.
class InterruptibleRun {
 public:
  explicit InterruptibleRun(bool allowed);
  ~InterruptibleRun();
  InterruptibleRun(const InterruptibleRun&) = delete;
  InterruptibleRun& operator=(const InterruptibleRun&) = delete;

  /// Interval between two calls of the hook in a run. Calling it may take as long as a thread may
  /// keep an interpreter's lock.
  static constexpr std::chrono::milliseconds interval{100};

 private:
  detail::RunState before_;
};

/// Called between the steps of a program, with no lock of the library held. Calls the hook if the
/// thread's InterruptibleRun allows it and InterruptibleRun::interval has passed. The thread leaves
/// its fork sections meanwhile. Throws Interrupted. Cheap: the clock is read every few calls, and
/// more often where steps take long.
void interruptible_step();
/// The same for pieces of work that take some microseconds at least.
void interruptible_piece();

/// A single InterruptibleWait::wait().
template <class Done>
void wait_or_interrupt(ir::Condition& condition, std::unique_lock<ir::Mutex>& lock,
                       const Done& done) {
  InterruptibleWait().wait(condition, lock, done);
}

/// Locks the mutex. Throws Interrupted while waiting.
inline std::unique_lock<ir::LongMutex> lock_or_interrupt(ir::LongMutex& mutex) {
  mutex.lock([](ir::Condition& freed, std::unique_lock<ir::Mutex>& lock, const auto& is_free) {
    if (!is_free()) wait_or_interrupt(freed, lock, is_free);
  });
  return {mutex, std::adopt_lock};
}

}  // namespace heddle::runtime
