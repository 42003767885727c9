#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "frontend/python/array_object.h"

namespace heddle::python {

namespace nb = nanobind;

/// The handle with which another process opens an array's memory, once the elements are there.
std::string shared_handle(ArrayObject& array, const SourceLocation& where);
/// An Array that shares the memory of another process.
nb::object open_shared(const std::string& handle, const SourceLocation& where);

/// In the submodule _cuda.
void bind_sharing(nb::module_& module);

}  // namespace heddle::python
