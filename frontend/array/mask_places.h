#pragma once

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Finds the true elements of a mask, a computed boolean array of any shape in host memory. Returns
/// their positions in C order, as a computed i64[count]. Throws ValueError if another thread writes
/// the mask meanwhile.
NodeRef places_in_host_mask(const NodeRef& mask, const Site& site);

}  // namespace heddle::frontend
