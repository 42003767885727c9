#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// Makes the Python classes of Heddle's exceptions, each also a subclass of the built-in one that
/// NumPy raises in its place: heddle.ShapeError is a ValueError.
void bind_errors(nb::module_& module);

/// Raises one of Python's own exceptions: raise(PyExc_TypeError, "...").
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// Called in a catch block: makes the exception in flight Python's current error.
void set_python_error() noexcept;

/// For slots and other functions that Python calls without nanobind in between: what `function`
/// returns, or `failed` with Python's error set.
template <class Function, class Result>
Result guarded(Result failed, Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    set_python_error();
    return failed;
  }
}

}  // namespace heddle::python
