#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/driver.h"
#include "runtime/launch/raw_module.h"

/// The parameters of a user's kernel, and the values that a launch gives them.
namespace heddle::runtime::cuda {

/// The bytes of each parameter; nullopt if the driver cannot tell. Throws DeviceError.
std::optional<std::vector<std::size_t>> parameter_sizes(FunctionHandle function);

/// Throws ValueError, with the counts or the sizes, for values that do not fit the parameters.
void check_values(const std::string& kernel, std::span<const std::size_t> sizes,
                  const LaunchValues& values);

}  // namespace heddle::runtime::cuda
