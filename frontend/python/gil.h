#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

/// Acquires and releases the GIL, also while the interpreter exits. CPython 3.11 to 3.13 then end a
/// thread that requests the GIL by unwinding its stack. This terminates the process at the first
/// noexcept function, such as nanobind's functions and all destructors. These functions block such
/// a thread instead, as CPython 3.14 does.
namespace heddle::python {

/// Blocks until the process ends.
[[noreturn]] void block_forever() noexcept;

/// Calls a function that may request the GIL.
template <class F>
decltype(auto) block_on_unwind(const F& function) {
  try {
    return function();
  } catch (const abi::__forced_unwind&) {
    block_forever();
  }
}

class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    block_on_unwind([&] { PyEval_RestoreThread(state_); });
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  friend class TakeGilBack;
  PyThreadState* state_;
};

/// Reacquires the GIL for a scope, on the thread that released it. Safe even after the interpreter
/// has ended.
class TakeGilBack {
 public:
  explicit TakeGilBack(ReleaseGil& released) : released_(released) {
    block_on_unwind([&] { PyEval_RestoreThread(released_.state_); });
  }
  ~TakeGilBack() { released_.state_ = PyEval_SaveThread(); }
  TakeGilBack(const TakeGilBack&) = delete;
  TakeGilBack& operator=(const TakeGilBack&) = delete;

 private:
  ReleaseGil& released_;
};

/// Acquires the GIL on any thread. The interpreter must not have ended.
class AcquireGil {
 public:
  AcquireGil() : state_(block_on_unwind(PyGILState_Ensure)) {}
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace heddle::python
