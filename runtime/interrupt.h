#pragma once

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "ir/fork_gate.h"

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

/// Throws Interrupted where the hook says so.
void check_interrupt();
/// How often waits ask.
inline constexpr std::chrono::milliseconds interrupt_interval{20};

/// While one lives, its thread asks check_interrupt() at least every interrupt_interval.
class InterruptibleWait {
 public:
  InterruptibleWait();
  ~InterruptibleWait();
  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;
  /// Whether any thread has one. Safe in a signal handler.
  static bool any() noexcept;
};

/// Waits until `done()`, which is called with the lock held. The lock is open while the hook is
/// asked. Throws Interrupted.
template <class Done>
void wait_or_interrupt(ir::Condition& condition, std::unique_lock<ir::Mutex>& lock,
                       const Done& done) {
  const InterruptibleWait waiting;
  while (!done()) {
    if (condition.wait_for(lock, interrupt_interval)) continue;
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
}

/// Waits for the mutex. Throws Interrupted.
inline std::unique_lock<ir::LongMutex> lock_or_interrupt(ir::LongMutex& mutex) {
  mutex.lock([](ir::Condition& freed, std::unique_lock<ir::Mutex>& lock, const auto& is_free) {
    if (!is_free()) wait_or_interrupt(freed, lock, is_free);
  });
  return {mutex, std::adopt_lock};
}

}  // namespace heddle::runtime
