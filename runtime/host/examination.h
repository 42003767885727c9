#pragma once

#include <vector>

#include "runtime/device/finding.h"

namespace heddle::runtime::host {

/// The processor, the C++ compiler and the libraries.
std::vector<Finding> examine();

}  // namespace heddle::runtime::host
