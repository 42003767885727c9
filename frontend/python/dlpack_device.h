#pragma once

#include <cstdint>
#include <optional>

#include "frontend/python/dlpack.h"
#include "runtime/device/device.h"

namespace heddle::python::dlpack {

/// The device whose memory DLPack calls so; nullopt for types that there are none of here.
std::optional<runtime::Device> find_device(const DeviceOf& device);
/// How DLPack calls a device.
DeviceOf name_of(const runtime::Device& device);

}  // namespace heddle::python::dlpack
