#pragma once

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "runtime/device/device.h"

namespace heddle::python {

namespace nb = nanobind;

/// Where the array is, or will be once it is computed.
runtime::Device device_of(const Array& array);
/// A device= argument: "cpu", "cuda", "cuda:1". ValueError for other names, DeviceError where it is
/// not there.
runtime::Device to_device_name(nb::handle value);

/// What was just recorded and depends on no array, as an Array on a device; on the current one
/// where `device` is None.
nb::object on_device(Array array, nb::handle device);
/// An Array on a device: itself where it is there already, or `device` is None.
nb::object to_device(nb::object array, nb::handle device, const SourceLocation& where);

}  // namespace heddle::python
