#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// What an operand becomes where a node computes many slices at once. A value that varies has its
/// slices along a leading axis.
enum class SlicedOperand : std::uint8_t {
  as_given,
  aligned,   ///< if it varies: with axes of extent 1 after the axis of slices, up to SlicedOp::rank
  one,       ///< as aligned; if it does not vary: with an axis of one slice
  repeated,  ///< with an axis of slices
  written    ///< repeated, and broadcast to the region of a slice_update
};

/// A node's op on many slices at once.
struct SlicedOp {
  Attributes attributes;
  std::vector<SlicedOperand> operands;
  std::size_t rank = 0;  ///< of operands that are aligned, the axis of slices not counted
};

/// The op of a node, of which some operands vary, for `count` slices at once. nullopt if it takes
/// no axis of slices: loops and branches, searches in arrays that vary, reductions whose segments
/// vary, users' kernels that read all of an operand that varies, positions of extremes along
/// several axes.
std::optional<SlicedOp> sliced_op(const Graph& graph, ValueId id, const std::vector<bool>& varies,
                                  Dim count);

}  // namespace heddle::ir
