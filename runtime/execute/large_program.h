#pragma once

#include <cstddef>
#include <string>

#include "ir/graph/graph.h"

namespace heddle::runtime {

/// A larger program has probably unrolled a loop of the user's code.
inline constexpr std::size_t large_program_nodes = 5000;

/// What to tell of a program of more than `large_program_nodes` nodes: their number, and the line
/// that recorded most of them.
std::string describe_large_program(const ir::Graph& graph);

}  // namespace heddle::runtime
