#pragma once

#include <cstddef>
#include <vector>

#include "heddle/profile_data.h"

namespace heddle::runtime {

/// Keeps the last `count` launches from now on; 0 disables the history.
void set_kernel_history(std::size_t count);
/// The kept launches, the oldest first. Throws DeviceError.
std::vector<KernelLaunch> kernel_history();

/// Starts the observers requested in the environment: HEDDLE_KERNEL_HISTORY, HEDDLE_STATISTICS, and
/// a tool that uses NVTX. Called before every operation that they observe; only the first call has
/// an effect.
void start_requested_observers();

}  // namespace heddle::runtime
