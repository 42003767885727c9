#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// The diagonals, [..., n], of square matrices whose extent n is known not to be negative.
ir::ValueId diagonal(ir::Graph& graph, ir::ValueId matrices, ir::Location location);
/// An i32 array whose elements are their index on one axis.
ir::ValueId indices(ir::Graph& graph, const ir::Shape& shape, std::int64_t axis,
                    ir::Location location);

}  // namespace heddle::passes
