#pragma once

#include <nanobind/nanobind.h>

#include "frontend/python/held.h"

namespace heddle::python {

/// A Python object that a thread of the driver may release. Such a thread must not call the driver,
/// which the object's destruction might do. So the main thread drops the reference later, or the
/// next call of drop_references().
Held hold_for_driver(nb::object object);

/// Drops the references that threads of the driver have released. Needs the GIL.
void drop_references();

}  // namespace heddle::python
