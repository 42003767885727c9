#pragma once

#include <optional>
#include <string_view>

#include <nanobind/nanobind.h>

#include "runtime/device/device.h"

/// Numba's CUDA array interface, by which libraries share memory of GPUs.
namespace heddle::python {

namespace nb = nanobind;

/// An object's attribute; nullopt if it has none. Raises what else its getter raises.
std::optional<nb::object> attribute_of(nb::handle value, const char* name);

/// True if the interface can describe memory of the device.
bool has_cuda_interface(const runtime::Device& device);
/// The device of a pointer. An array without elements has no memory; it goes to the thread's GPU,
/// or to the first one. ValueError, naming the function, for memory that is not a GPU's.
runtime::Device device_of_cuda_pointer(std::string_view function, const void* data);

/// Makes the thread's stream on a device wait for the one on which the array is made, if the
/// interface names it.
void wait_for_producer(const nb::object& interface, const runtime::Device& device);

}  // namespace heddle::python
