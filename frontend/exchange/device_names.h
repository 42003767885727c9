#pragma once

#include <optional>

#include "heddle/dlpack.h"

#include "runtime/device/device.h"

namespace heddle::dlpack {

/// The device for a DLPack device; nullopt for unsupported types.
std::optional<runtime::Device> find_device(const Device& device);
/// The DLPack name of a device.
Device name_of(const runtime::Device& device);

}  // namespace heddle::dlpack
