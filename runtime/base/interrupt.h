#pragma once

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "ir/base/fork_gate.h"

namespace heddle::runtime {

/// Thrown out of a wait that the user has ended, by Ctrl-C for example. What waited can be asked
/// for again.
class Interrupted final : public std::exception {
 public:
  explicit Interrupted(std::exception_ptr cause) : cause(std::move(cause)) {}
  const char* what() const noexcept override { return "interrupted"; }
  std::exception_ptr cause;  ///< what the hook gave
};

/// Asked several times a second by threads that wait for compilers: null to go on waiting. It may
/// not wait for a thread that waits here.
using InterruptHook = std::exception_ptr (*)();
/// The front end's hook; null, the default, for none.
void set_interrupt_hook(InterruptHook hook);

/// Throws Interrupted where the hook says so. Does not ask it in a fork section: the hook may wait
/// for a thread that forks (Python's forks hold the GIL), which waits for the section.
void check_interrupt();
/// How often waits ask.
inline constexpr std::chrono::milliseconds interrupt_interval{20};

/// While one lives, its thread asks check_interrupt() about every interrupt_interval.
class InterruptibleWait {
 public:
  using Clock = std::chrono::steady_clock;
  InterruptibleWait();
  ~InterruptibleWait();
  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;
  /// Whether any thread has one. Safe in a signal handler.
  static bool any() noexcept;

  /// Waits until `done()`, which is called with the lock held. The lock is open while the hook is
  /// asked, which is so also where waits end more often. Throws Interrupted.
  template <class Done>
  void wait(ir::Condition& condition, std::unique_lock<ir::Mutex>& lock, const Done& done) {
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

 private:
  Clock::time_point next_ = Clock::now() + interrupt_interval;  ///< when to ask
};

/// One such wait.
template <class Done>
void wait_or_interrupt(ir::Condition& condition, std::unique_lock<ir::Mutex>& lock,
                       const Done& done) {
  InterruptibleWait().wait(condition, lock, done);
}

/// Waits for the mutex. Throws Interrupted.
inline std::unique_lock<ir::LongMutex> lock_or_interrupt(ir::LongMutex& mutex) {
  mutex.lock([](ir::Condition& freed, std::unique_lock<ir::Mutex>& lock, const auto& is_free) {
    if (!is_free()) wait_or_interrupt(freed, lock, is_free);
  });
  return {mutex, std::adopt_lock};
}

}  // namespace heddle::runtime
