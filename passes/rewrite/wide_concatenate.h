#pragma once

#include <cstddef>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Most parts of one concatenation in a kernel: each is a pointer and a test of every element.
inline constexpr std::size_t max_parts = 64;

/// Makes concatenations of more than max_parts arrays concatenations of concatenations.
ir::Graph narrow_concatenations(const ir::Graph& graph);

}  // namespace heddle::passes
