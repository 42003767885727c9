#pragma once

#include <nanobind/nanobind.h>

#include "heddle/stream.h"

namespace heddle::python {

namespace nb = nanobind;

/// A stream= argument: a heddle.cuda.Stream, an object with `ptr` or `__cuda_stream__` such as
/// CuPy's, or None for the current stream of the device. TypeError for anything else.
Stream to_stream(nb::handle value, const std::string& device);

}  // namespace heddle::python
