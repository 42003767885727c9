#pragma once

#include <optional>
#include <string>

#include "runtime/device/device.h"

/// What the driver says of GPUs, for users who ask.
namespace heddle::runtime::cuda {

/// Attributes that the driver does not know are left out. Throws DeviceError.
DeviceDetails details_of(int ordinal);
/// Throws DeviceError.
DeviceMemory memory_of(int ordinal);
/// nullopt if no GPU of this process has the id, or if there is none.
std::optional<int> at_bus_id(const std::string& id);

}  // namespace heddle::runtime::cuda
