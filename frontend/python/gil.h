#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

/// Taking and releasing Python's lock, also while the interpreter ends: CPython 3.11 to 3.13 end a
/// thread that wants the lock then by unwinding its stack, which terminates the process where it
/// meets a noexcept function, such as nanobind's and all destructors. Such a thread stands still
/// instead, as CPython 3.14 has it.
namespace heddle::python {

/// Until the process ends.
[[noreturn]] void stand_still() noexcept;

/// Calls a function that may want the lock.
template <class F>
decltype(auto) or_stand_still(const F& function) {
  try {
    return function();
  } catch (const abi::__forced_unwind&) {
    stand_still();
  }
}

class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    or_stand_still([&] { PyEval_RestoreThread(state_); });
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  friend class TakeGilBack;
  PyThreadState* state_;
};

/// For a while, on the thread that has released it. Safe also when the interpreter has ended.
class TakeGilBack {
 public:
  explicit TakeGilBack(ReleaseGil& released) : released_(released) {
    or_stand_still([&] { PyEval_RestoreThread(released_.state_); });
  }
  ~TakeGilBack() { released_.state_ = PyEval_SaveThread(); }
  TakeGilBack(const TakeGilBack&) = delete;
  TakeGilBack& operator=(const TakeGilBack&) = delete;

 private:
  ReleaseGil& released_;
};

/// On any thread. The interpreter has not ended.
class AcquireGil {
 public:
  AcquireGil() : state_(or_stand_still(PyGILState_Ensure)) {}
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace heddle::python
