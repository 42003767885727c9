#pragma once

#include <nanobind/nanobind.h>

#include "frontend/python/array_object.h"

namespace heddle::python {

namespace nb = nanobind;

/// The parameters of Array.get.
struct Download {
  nb::handle stream;  ///< as for to_stream()
  char order;         ///< of a new result: 'F', or 'C' for any other letter
  nb::handle out;     ///< a NumPy array, or None
  bool blocking;      ///< whether the elements are there when download() returns
};

/// The elements in a NumPy array.
nb::object download(const ArrayObject& array, const SourceLocation& where, const Download& how);

}  // namespace heddle::python
