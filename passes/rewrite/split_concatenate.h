#pragma once

#include <cstddef>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Limit on parts of one concatenation in a kernel. Each part costs a pointer, and a comparison for
/// every element.
inline constexpr std::size_t max_parts = 64;

/// Splits concatenations of more than max_parts arrays into trees of concatenations.
ir::Graph split_concatenations(const ir::Graph& graph);

}  // namespace heddle::passes
