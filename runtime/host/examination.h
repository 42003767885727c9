#pragma once

#include <vector>

#include "runtime/device/finding.h"

namespace heddle::runtime::host {

/// Reports the processor, the C++ compiler and the libraries.
std::vector<Finding> examine();

}  // namespace heddle::runtime::host
