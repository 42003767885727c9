#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::python {

namespace nb = nanobind;

/// The arguments of a traced function. They are values: a write to one is lost unless the function
/// returns it, which NumPy-style in-place functions do not do.
class LostWrites {
 public:
  /// An argument of the trace.
  nb::object argument(const Array& value, bool is_scalar);
  /// Warns, with the function's name and line, if an argument was written but no array is returned.
  void check(const std::string& function, bool returns_arrays) const;

 private:
  std::vector<std::pair<nb::object, frontend::NodeRef>> arguments_;
};

}  // namespace heddle::python
