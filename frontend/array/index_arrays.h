#pragma once

#include <vector>

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// The coordinates, in C order, of the elements that indices count, which lie inside the shape.
std::vector<NodeRef> unraveled(NodeRef flat, const ir::Shape& shape, const Composer& on);

}  // namespace heddle::frontend
