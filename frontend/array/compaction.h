#pragma once

#include <initializer_list>
#include <vector>

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// The places where a mask, 1-d, holds, in order, as i64. Evaluates the mask, and waits for how
/// many there are; `beside` are computed by the same program.
NodeRef places_of(const char* what, const NodeRef& mask, std::vector<NodeRef> beside,
                  const Composer& on);

}  // namespace heddle::frontend
