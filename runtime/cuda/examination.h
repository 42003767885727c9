#pragma once

#include <vector>

#include "runtime/device/finding.h"

namespace heddle::runtime::cuda {

/// Reports the driver, the GPUs, NVRTC and the CUDA libraries.
std::vector<Finding> examine();

}  // namespace heddle::runtime::cuda
