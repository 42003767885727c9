#pragma once

#include <cstddef>
#include <cstdint>

#include "codegen/blocks/loop_types.h"

namespace heddle::codegen {

/// A combination tree over a sequence of states, for `width` rows side by side: the order of
/// heddle_scalar::reduce::Tree (ir/scalar/reduce_tree.h), for states of any reduction.
class CombineTree {
 public:
  /// The most levels that a tree needs.
  static constexpr std::size_t levels = 56;

  /// `memory` has room for levels * width states, or for fewer levels if there are few leaves.
  CombineTree(const heddle_blocks::ReductionLoops& loops, std::int64_t width, std::byte* memory)
      : loops_(loops), stride_(width * loops.state_bytes), memory_(memory) {}

  /// The location for the next leaf. Write the leaf there, then call add_leaf().
  std::byte* leaf() const { return part(depth_); }
  void add_leaf(std::int64_t width) {
    for (std::uint64_t carry = count_++; (carry & 1) != 0; carry >>= 1) join(width);
    ++depth_;
  }
  std::byte* totals(std::int64_t width) {
    if (depth_ == 0) {
      loops_.identity(part(0), width);
      return part(0);
    }
    --depth_;
    while (depth_ > 0) join(width);
    return part(0);
  }

 private:
  std::byte* part(int depth) const { return memory_ + depth * stride_; }
  void join(std::int64_t width) {
    --depth_;
    loops_.join(part(depth_), part(depth_ + 1), width);
  }

  const heddle_blocks::ReductionLoops& loops_;
  std::int64_t stride_;
  std::byte* memory_;
  int depth_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace heddle::codegen
