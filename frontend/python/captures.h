#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "frontend/python/array_object.h"

namespace heddle::python {

namespace nb = nanobind;

/// The Arrays that a Python function can reach by its names: globals and closed-over variables that
/// it mentions, what lists, dicts and objects among them hold, and the same for functions that it
/// mentions. They are looked up anew at each call, so that a jitted function uses what the names
/// stand for then. Arguments that are neither Arrays nor containers are looked through, too.
struct Captures {
  std::vector<const ArrayObject*> arrays;  ///< each variable once
  std::string key;                         ///< how they were found; equal keys are equal places
};
Captures find_captures(nb::handle function, const std::vector<nb::handle>& arguments);

}  // namespace heddle::python
