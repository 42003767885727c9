#pragma once

#include <span>
#include <vector>

#include "runtime/host/blocks/block_kernel.h"

namespace heddle::runtime::host {

/// One thread's work on a launch of a BlockKernel: values of loops, blocks of values, and where
/// arrays are. Memory is kept by the thread between launches.
class BlockFrame {
 public:
  BlockFrame(const BlockKernel& kernel, void* const* buffers, const std::int64_t* scalars);

  std::int64_t size(int index) const { return sizes_[static_cast<std::size_t>(index)]; }
  std::byte* buffer(int operand) const { return static_cast<std::byte*>(buffers_[operand]); }
  /// Memory for states of reductions, 64-byte aligned, until the frame ends.
  std::byte* scratch(std::size_t bytes);

  /// Sets a loop's variable, the same for all lanes.
  void set_loop(int loop, std::int64_t value) { loops_[static_cast<std::size_t>(loop)] = {value}; }
  /// Sets the loops numbered from `first` from a flat iteration in C order.
  void set_loops(int first, const std::vector<LoopCode>& loops, std::int64_t flat);
  /// Calls visit(flat, n) for blocks of at most `lanes` lanes that cover the iterations [from, to)
  /// of loops in C order. The loops' variables are set. Loops are numbered from `first`.
  template <class Visit>
  void for_blocks(int first, const std::vector<LoopCode>& loops, std::int64_t from, std::int64_t to,
                  const Visit& visit);
  /// Sets a loop's variable to consecutive values, one for each lane.
  void set_lanes(int loop, std::int64_t first) {
    loops_[static_cast<std::size_t>(loop)] = {first, 1};
  }

  /// How many equal elements values that are fixed or of a row are filled to. At most
  /// BlockKernel::lanes.
  void set_most_lanes(std::int64_t most) { most_lanes_ = most; }
  /// Computes values once, for the launch or a row.
  void run_once(const StepList& list);
  /// Computes a block of `n` lanes and stores it.
  void run(const StepList& list, std::int64_t n);
  /// Stores values that are computed already.
  void store(const StepList& list, std::int64_t n);

  const std::byte* value(int operation) const {
    return values_[static_cast<std::size_t>(operation)];
  }
  /// The first element of an integer value.
  std::int64_t integer(int operation) const;
  /// Where the states of each reduction are once it has ended: of one row, or of each lane.
  void set_states(int reduction, const std::byte* states) {
    states_[static_cast<std::size_t>(reduction)] = states;
  }

 private:
  struct Memory;
  /// Whether lanes cross the end of the last loop, because it is short.
  bool is_flat(const std::vector<LoopCode>& loops) const;
  void set_flat(int first, const std::vector<LoopCode>& loops, std::int64_t flat, std::int64_t n);
  void new_block(std::int64_t n);
  std::int64_t* index_block();
  LaneIndex index(const IndexCode& code);
  LaneIndex flat_index(const IndexCode& code, bool& known) const;
  LaneIndex atom(int number);
  LaneIndex with_values(LaneIndex sum, const IndexCode& code);
  LaneIndex without_runs(const LaneIndex& index);
  LaneIndex divided(const AtomCode& code);
  LaneIndex computed(int operation);
  std::byte* compute(const Step& step, std::byte* to);
  std::byte* load(const Operation& one, std::byte* to);
  void guarded_load(const Operation& one, const LaneIndex& at, std::byte* to);
  const std::int64_t* indices_of(const Operation& one);
  void put(const StoreCode& store, const LaneIndex& at, std::int64_t n);

  const BlockKernel& kernel_;
  void* const* buffers_;
  const std::int64_t* scalars_;
  Memory& memory_;
  const std::int64_t* sizes_ = nullptr;
  std::vector<LaneIndex>& loops_;
  std::vector<LaneIndex>& atom_values_;
  std::vector<std::uint64_t>& atom_stamps_;
  std::vector<const std::byte*>& values_;
  std::vector<const std::byte*>& states_;
  std::vector<LaneIndex>& targets_;
  std::uint64_t stamp_ = 0;
  std::int64_t n_ = 0, most_lanes_ = 0;
  std::size_t index_blocks_ = 0, loop_blocks_ = 0, scratch_used_ = 0;
  // Lanes that cross the end of the last loop: the loops, and the flat iteration of lane 0.
  int flat_first_ = -1, flat_count_ = 0;
  const std::vector<LoopCode>* flat_loops_ = nullptr;
  std::int64_t flat_begin_ = 0;
  LaneRuns runs_;
  std::int64_t run_count_ = 0;  ///< in the block
};

template <class Visit>
void BlockFrame::for_blocks(int first, const std::vector<LoopCode>& loops, std::int64_t from,
                            std::int64_t to, const Visit& visit) {
  if (loops.empty()) {
    if (from < to) visit(from, std::int64_t{1});
    return;
  }
  const int last = first + static_cast<int>(loops.size()) - 1;
  const bool flat = is_flat(loops);
  const std::int64_t extent = size(loops.back().extent);
  for (std::int64_t at = from; at < to;) {
    std::int64_t n = to - at < kernel_.lanes ? to - at : kernel_.lanes;
    if (flat) {
      set_flat(first, loops, at, n);
    } else {
      const std::int64_t within = loops.size() == 1 ? at : at % extent;
      if (loops.size() > 1) {
        n = extent - within < n ? extent - within : n;
        set_loops(first, loops, at);
      }
      set_lanes(last, within);
    }
    visit(at, n);
    at += n;
  }
  flat_first_ = -1;
}

}  // namespace heddle::runtime::host
