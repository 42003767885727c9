#pragma once

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// The places of the elements of a computed mask that are not 0, in order, as a computed
/// i64[count]. The mask is a boolean array in host memory; places count in C order.
NodeRef places_in_host_mask(const NodeRef& mask, const Site& site);

}  // namespace heddle::frontend
