#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// An element that is known without an evaluation, for an index within the array: that of a number,
/// of a computed array in host memory, of indices such as arange(n), and of pending views of those.
/// nullopt for any other array.
std::optional<ir::ElementBits> known_element(const NodeRef& node, std::vector<std::int64_t> index);

/// Reads the only element of an array if it is known, as that of x[3, 4] for a computed x. Returns
/// false, and reads nothing, for any other array. Throws what evaluated_node() throws for a wait
/// that is forbidden.
bool read_single_element(const Array& array, const char* what, const Site& where, void* out);

}  // namespace heddle::frontend
