#pragma once

#include <cstddef>
#include <optional>

#include "ir/graph/graph.h"
#include "passes/groups/index.h"

namespace heddle::passes {

/// A concatenation of two neighbouring parts of an array, the later part first, as roll makes it.
/// So it is a view: along the axis, element i is element begin + (i + shift) % extent of the array.
struct Rotation {
  ir::ValueId array{};
  std::size_t axis = 0;
  ir::Dims begins;  ///< of the region of the array that both parts make up
  ir::Dim shift, extent;
};
std::optional<Rotation> rotation_of(const ir::Graph& graph, ir::ValueId node);

/// The index map at which the array is read when the rotation is read at `map`.
IndexMap rotated_map(IndexSpace& space, const Rotation& rotation, const IndexMap& map);

}  // namespace heddle::passes
