#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::python {

namespace nb = nanobind;

/// The arguments of a function that is traced. They are values: what the function writes to them is
/// lost unless it returns it, which NumPy's functions that work in place do not.
class LostWrites {
 public:
  /// An argument of the trace.
  nb::object argument(const Array& value);
  /// Warns, with the function's name and line, if an argument was written and nothing is returned.
  void check(const std::string& function, bool returns_arrays) const;

 private:
  std::vector<std::pair<nb::object, frontend::NodeRef>> arguments_;
};

}  // namespace heddle::python
