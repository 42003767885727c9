#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>

namespace heddle::emulator {

/// Where a thread of control stands while another runs.
struct Context {
  std::jmp_buf registers;
};

/// A thread of control with a stack of its own that runs only when switched to. A switch costs some
/// nanoseconds: ucontext starts a fiber, setjmp and longjmp switch. Stays on one host thread.
class Fiber {
 public:
  /// `body` must never return.
  explicit Fiber(std::function<void(Fiber&)> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves the caller in `from` and goes on in this fiber. Returns when someone switches to
  /// `from`.
  void resume(Context& from);
  /// Called on this fiber: goes on in `to`. Returns when the fiber is resumed.
  void suspend(Context& to);
  /// The fiber that this one's caller switches to instead; called on this fiber.
  void switch_to(Fiber& other) { other.resume(context_); }
  /// Forgets where the fiber stands: the next resume starts its body anew. Destroys nothing on its
  /// stack.
  void reset() { started_ = false; }

 private:
  static void enter();
  void start();

  std::function<void(Fiber&)> body_;
  Context context_{};
  std::byte* stack_ = nullptr;
  bool started_ = false;
};

}  // namespace heddle::emulator
