#pragma once

#include "runtime/device/graph_conditions.h"

namespace heddle::runtime::cuda {

/// Conditional nodes of CUDA graphs. Null if the driver has none; CUDA 12.4 and later have.
const GraphConditions* graph_conditions();

}  // namespace heddle::runtime::cuda
