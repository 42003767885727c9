#pragma once

#include <initializer_list>
#include <vector>

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// The indices at which a 1-d mask is true, in order, as i64. Evaluates the mask and waits for
/// their number. The same program computes `beside`.
NodeRef places_of(const char* what, const NodeRef& mask, std::vector<NodeRef> beside,
                  const OpRecorder& on);

}  // namespace heddle::frontend
