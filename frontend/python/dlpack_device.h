#pragma once

#include <cstdint>
#include <optional>

#include "frontend/python/dlpack.h"
#include "runtime/device/device.h"

namespace heddle::python::dlpack {

/// The device for a DLPack device; nullopt for unsupported types.
std::optional<runtime::Device> find_device(const DeviceOf& device);
/// The DLPack name of a device.
DeviceOf name_of(const runtime::Device& device);

}  // namespace heddle::python::dlpack
