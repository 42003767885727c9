#pragma once

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// What formats arrays instead of C++ if it is not None: f(array, whether repr is asked for). Set
/// for options of numpy.set_printoptions that C++ does not have. Used with the GIL only.
nb::object& text_function();

}  // namespace heddle::python
