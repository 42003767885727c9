#pragma once

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "runtime/device/device.h"

namespace heddle::python {

namespace nb = nanobind;

/// The device on which the array is or will be computed.
runtime::Device device_of(const Array& array);
/// A device= argument: "cpu", "cuda", "cuda:1". ValueError for other names, DeviceError if the
/// device does not exist.
runtime::Device to_device_name(nb::handle value);

/// Places a value that was just recorded and depends on no array on a device; on the current one if
/// `device` is None.
nb::object on_device(Array array, nb::handle device);
/// The Array on a device; the same Array if it is already there or `device` is None.
nb::object to_device(nb::object array, nb::handle device, const SourceLocation& where);

}  // namespace heddle::python
