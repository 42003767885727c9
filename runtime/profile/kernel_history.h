#pragma once

#include <cstddef>
#include <vector>

#include "heddle/profile_data.h"

namespace heddle::runtime {

/// Keeps the last `count` launches from now on; 0 keeps none.
void set_kernel_history(std::size_t count);
/// Those, the oldest first. Throws DeviceError.
std::vector<KernelLaunch> kernel_history();

/// What the environment asks to be watched from the start: HEDDLE_KERNEL_HISTORY,
/// HEDDLE_STATISTICS, and a tool behind NVTX. Called before whatever these want to know of; does
/// something once.
void watch_as_environment_says();

}  // namespace heddle::runtime
