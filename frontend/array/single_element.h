#pragma once

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Reads a number that is known, or the only element of a pending array that is a chain of slices
/// and reshapes of a computed array in host memory, such as x[3, 4], without an evaluation. Returns
/// false, and reads nothing, for any other array. Throws what evaluated_node() throws for a wait
/// that is forbidden.
bool read_single_element(const Array& array, const char* what, const Site& where, void* out);

}  // namespace heddle::frontend
