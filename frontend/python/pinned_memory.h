#pragma once

#include <nanobind/nanobind.h>

#include "heddle/memory.h"

namespace heddle::python {

/// A Python object with the buffer protocol, which keeps the memory.
nanobind::object pinned_object(PinnedMemory memory);

}  // namespace heddle::python
