#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "frontend/python/array_object.h"

namespace heddle::python {

namespace nb = nanobind;

/// The Arrays that a Python function can access through names. These are the globals and closure
/// variables that it mentions, elements of lists, dicts and objects among these, and the same for
/// functions that it mentions. They are looked up at each call, so a jitted function uses the
/// current values. Arguments that are neither Arrays nor containers are searched, too.
struct Captures {
  std::vector<const ArrayObject*> arrays;  ///< each variable once
  std::string key;                         ///< the paths to them; equal keys mean equal paths
};
Captures find_captures(nb::handle function, const std::vector<nb::handle>& arguments);

}  // namespace heddle::python
