#pragma once

#include <cstddef>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Finds the true elements of a mask, a computed boolean array of any shape in host memory. Returns
/// their positions in C order, as a computed i64[count]. Throws ValueError if another thread writes
/// the mask meanwhile.
NodeRef places_in_host_mask(const NodeRef& mask, const Site& site);

/// The elements of a computed array in host memory, whose leading axes are those of such a mask,
/// where the mask is true.
NodeRef elements_in_host_mask(const NodeRef& array, const NodeRef& mask, const Site& site);

/// Writes `values` to the elements in `array`'s memory where the mask is true. Returns false, and
/// writes nothing, if these are not as many as there are values.
bool write_in_host_mask(const NodeRef& array, const NodeRef& mask, const NodeRef& values,
                        const Site& site);

}  // namespace heddle::frontend
