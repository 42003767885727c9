#pragma once

/// Access of GPUs to each other's memory.
namespace heddle::runtime::cuda {

/// Whether kernels of a GPU can read the memory of the other. Throws DeviceError.
bool can_access(int ordinal, int peer);
/// Lets a GPU use the memory of the other, as long as the process lives. Asks the driver once for a
/// pair. Returns false if it cannot. Throws DeviceError.
bool enable_access(int ordinal, int peer);
/// Undoes enable_access(). Throws DeviceError.
void disable_access(int ordinal, int peer);

}  // namespace heddle::runtime::cuda
