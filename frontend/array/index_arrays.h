#pragma once

#include <vector>

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// Converts flat indices, which must be inside the shape, to coordinates in C order.
std::vector<NodeRef> unraveled(NodeRef flat, const ir::Shape& shape, const OpRecorder& on);

}  // namespace heddle::frontend
