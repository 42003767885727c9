#pragma once
//! section reduce_tree needs core
#ifndef __CUDACC__
// The order in which the CPU combines elements, if the result depends on it: in sums and products
// of floats. It is determined by the number of elements, the size of a state, and whether the
// array's last axis is reduced. Either order reads C-ordered arrays contiguously. Rounding errors
// grow with the logarithm of the number of elements.
//   Along rows (the last axis is reduced): a row is split into blocks of `block_length` elements.
//   Element i of a block belongs to lane i % lanes; each lane combines its elements in sequence.
//   Then the second half of the lanes is combined with the first half, repeatedly, until one lane
//   is left: the state of the block.
//   Along columns (the last axis is kept): runs of `run_length` elements are combined in sequence.
//   The states of blocks or runs are combined like the digits of a binary counter: neighbours of
//   equal size as soon as there are two, and the remaining ones at the end, from last to first.
namespace heddle_scalar::reduce {
constexpr int run_length(long long column) { return column <= 256 ? 16 : 32; }
// Segments of an axis are combined as columns are, in runs of this length. Longer ones would make
// products of sparse matrices faster, since a run's end is a branch that processors predict badly,
// but their rounding errors could exceed the bound for sums.
constexpr int segment_run_length = 32;
constexpr int block_length(int state_bytes) { return state_bytes <= 4 ? 2048 : 1024; }
constexpr int lanes_of(long long row, int state_bytes) {
  if (row <= 16) return 1;
  if (row <= 256) return 16;
  return row <= 1024 || state_bytes > 4 ? 32 : 64;
}
// The number of elements in each of at most `most` parts of a long row or column. Parts are
// subtrees of its tree.
HD_SCALAR long long part_length(long long walk, long long least, long long most) {
  while (least * most < walk) least *= 2;
  return least;
}
template <int n>
struct Lanes {
  static constexpr int count = n;
};
// The state of a block. Overwrites the states of its lanes.
template <class R, int lanes>
HD_SCALAR typename R::State combine_lanes(typename R::State* lane) {
  if constexpr (lanes == 1) {
    return lane[0];
  } else {
    constexpr int half = lanes / 2;
    for (int k = 0; k < half; ++k) lane[k] = R::combine(lane[k], lane[k + half]);
    return combine_lanes<R, half>(lane);
  }
}
// The lane that is leaf number `turn`, if a block's lanes are the leaves of a Tree. Lanes that are
// combined first become neighbouring leaves.
HD_SCALAR int lane_at(int turn, int lanes) {
  int lane = 0;
  for (int half = lanes / 2; half > 0; half /= 2, turn /= 2) lane += turn % 2 * half;
  return lane;
}
// A combination tree over a sequence of states, for `Width` rows side by side. Each part_[d]
// combines 2^k leaves, with different k; parts with larger k have smaller d.
template <class R, int Width = 1, int Levels = 56>
class Tree {
 public:
  using State = typename R::State;

  // The location for the next leaf. Write the leaf there, then call add_leaf().
  HD_SCALAR State* leaf() { return part_[depth_]; }
  HD_SCALAR void add_leaf(int width = Width) {
    for (unsigned long long carry = count_++; (carry & 1) != 0; carry >>= 1) join(width);
    ++depth_;
  }
  HD_SCALAR void add(State state) {
    part_[depth_][0] = state;
    add_leaf(1);
  }
  HD_SCALAR const State* totals(int width = Width) {
    if (depth_ == 0) {
      for (int k = 0; k < width; ++k) part_[0][k] = R::identity();
      return part_[0];
    }
    --depth_;
    while (depth_ > 0) join(width);
    return part_[0];
  }
  HD_SCALAR State total() { return totals(1)[0]; }

 private:
  // Combines the topmost part into the part below it.
  HD_SCALAR void join(int width) {
    const State* top = part_[depth_];
    State* below = part_[--depth_];
    for (int k = 0; k < width; ++k) below[k] = R::combine(below[k], top[k]);
  }

  alignas(64) State part_[Levels][Width];
  int depth_ = 0;
  unsigned long long count_ = 0;
};
}  // namespace heddle_scalar::reduce
#endif
