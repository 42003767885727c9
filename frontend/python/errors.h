#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// Makes the Python classes of Heddle's exceptions. Each is also a subclass of the built-in
/// exception that NumPy raises: heddle.ShapeError is a ValueError.
void bind_errors(nb::module_& module);

/// Raises one of Python's own exceptions: raise(PyExc_TypeError, "...").
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// Call in a catch block: sets the current C++ exception as Python's current error.
void set_python_error() noexcept;

/// For slots and other functions that Python calls without nanobind: returns the result of
/// `function`, or `failed` with Python's error set.
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
