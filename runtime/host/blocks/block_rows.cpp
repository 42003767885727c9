#include <algorithm>
#include <cstring>

#include "codegen/blocks/combine_tree.h"
#include "ir/types/scalar.h"
#include "runtime/host/blocks/block_run.h"

namespace heddle::runtime::host {

namespace {

namespace reduce = heddle_scalar::reduce;
using codegen::CombineTree;
using heddle_blocks::ReductionLoops;

/// Runs the rows of a kernel, one after another.
class Rows {
 public:
  Rows(const BlockKernel& kernel, BlockFrame& frame) : kernel_(kernel), frame_(frame) {
    inner_first_ = static_cast<int>(kernel.outer.size());
    most_ = std::min(kernel.lanes, std::max<std::int64_t>(frame.size(kernel.inner_total), 1));
    constexpr std::size_t most_states = 64;
    for (const ReductionCode& one : kernel.reductions) {
      const auto bytes = static_cast<std::size_t>(one.loops->state_bytes);
      states_.push_back(frame.scratch(most_states * bytes));
      trees_.push_back(frame.scratch(CombineTree::levels * bytes));
      results_.push_back(frame.scratch(bytes));
    }
  }

  void run(std::int64_t begin, std::int64_t end) {
    frame_.set_most_lanes(most_);
    frame_.run_once(kernel_.fixed);
    rows_ = frame_.size(kernel_.outer_total);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      row_ = kernel_.split > 1 ? unit % rows_ : unit;
      part_ = kernel_.split > 1 ? unit / rows_ : 0;
      frame_.set_loops(0, kernel_.outer, row_);
      for (int stage = 0; stage <= kernel_.stages; ++stage) {
        frame_.run_once(kernel_.of_rows[static_cast<std::size_t>(stage)]);
        if (stage == 0) walk_ = walk_of(kernel_, frame_, part_);
        if (stage < kernel_.stages) run_stage(stage);
      }
      if (kernel_.split > 1) store_parts();
      frame_.store(kernel_.finish, 1);
    }
  }

 private:
  void run_stage(int stage) {
    if (kernel_.combines_parts) return combine_parts();
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      const ReductionCode& one = kernel_.reductions[i];
      if (one.stage == stage && one.by_extreme) find_extreme(i);
    }
    for (const PassCode& pass : kernel_.passes) {
      if (pass.stage != stage) continue;
      const bool in_columns_order =
          !pass.reductions.empty() && code(pass.reductions[0]).in_columns_order;
      in_columns_order ? run_in_sequence(pass) : run_in_lanes(pass);
    }
  }

  const ReductionCode& code(int reduction) const {
    return kernel_.reductions[static_cast<std::size_t>(reduction)];
  }
  std::byte* states(int reduction) const { return states_[static_cast<std::size_t>(reduction)]; }
  void set_result(int reduction, const std::byte* state) {
    std::byte* const to = results_[static_cast<std::size_t>(reduction)];
    std::memcpy(to, state, static_cast<std::size_t>(code(reduction).loops->state_bytes));
    frame_.set_states(reduction, to);
  }
  CombineTree tree(int reduction) const {
    return {*code(reduction).loops, 1, trees_[static_cast<std::size_t>(reduction)]};
  }
  void add_leaf(CombineTree& tree, const ReductionLoops& loops, const std::byte* state) const {
    std::memcpy(tree.leaf(), state, static_cast<std::size_t>(loops.state_bytes));
    tree.add_leaf(1);
  }

  template <class Visit>
  void for_blocks(std::int64_t from, std::int64_t to, const Visit& visit) {
    frame_.for_blocks(inner_first_, kernel_.inner, from, to, visit);
  }

  void find_extreme(std::size_t reduction) {
    const ReductionCode& one = kernel_.reductions[reduction];
    std::byte* const state = states_[reduction];
    one.loops->identity(state, 1);
    const StepList& list = kernel_.extremes[reduction];
    for_blocks(walk_.begin, walk_.end, [&](std::int64_t at, std::int64_t n) {
      frame_.run(list, n);
      one.loops->extreme(state, frame_.value(one.value), at, n);
    });
    set_result(static_cast<int>(reduction), state);
  }

  int lanes_of(const PassCode& pass, const ReductionCode& one) const {
    if (!one.ordered) return heddle_blocks::unordered_lanes;
    if (pass.states > 0) return pass.states;
    return reduce::lanes_of(frame_.size(kernel_.inner_total), pass.state_bytes);
  }

  /// One pass in the order of rows: blocks of lanes, combined by a tree.
  void run_in_lanes(const PassCode& pass) {
    std::vector<CombineTree> trees;
    for (const int i : pass.reductions) {
      trees.push_back(tree(i));
      code(i).loops->identity(states(i), lanes_of(pass, code(i)));
    }
    const std::int64_t length =
        pass.in_blocks ? reduce::block_length(pass.state_bytes) : walk_.end - walk_.begin;
    for (std::int64_t from = walk_.begin; from < walk_.end; from += length) {
      for_blocks(from, std::min(from + length, walk_.end), [&](std::int64_t at, std::int64_t n) {
        frame_.run(pass.list, n);
        for (const int i : pass.reductions)
          code(i).loops->lanes(states(i), lanes_of(pass, code(i)), frame_.value(code(i).value), at,
                               n);
      });
      for (std::size_t k = 0; pass.in_blocks && k < pass.reductions.size(); ++k) {
        const int i = pass.reductions[k];
        const ReductionLoops& loops = *code(i).loops;
        if (!code(i).ordered) continue;
        loops.halve(states(i), lanes_of(pass, code(i)));
        add_leaf(trees[k], loops, states(i));
        loops.identity(states(i), lanes_of(pass, code(i)));
      }
    }
    for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
      const int i = pass.reductions[k];
      if (pass.in_blocks && code(i).ordered) {
        set_result(i, trees[k].totals(1));
        continue;
      }
      code(i).loops->halve(states(i), lanes_of(pass, code(i)));
      set_result(i, states(i));
    }
  }

  /// One pass in the order of columns: runs in sequence, combined by a tree.
  void run_in_sequence(const PassCode& pass) {
    const std::int64_t length = run_length(kernel_, frame_);
    const bool one_run = walk_.end - walk_.begin <= length;
    std::vector<CombineTree> trees;
    for (const int i : pass.reductions) {
      trees.push_back(tree(i));
      code(i).loops->identity(states(i), heddle_blocks::unordered_lanes);
    }
    std::int64_t run_end = std::min(walk_.begin + length, walk_.end);
    const auto end_run = [&](std::int64_t at) {
      for (std::size_t k = 0; !one_run && k < pass.reductions.size(); ++k) {
        const int i = pass.reductions[k];
        if (!code(i).ordered) continue;
        add_leaf(trees[k], *code(i).loops, states(i));
        code(i).loops->identity(states(i), 1);
      }
      run_end = std::min(at + length, walk_.end);
    };
    // Blocks are longer than runs: values are computed for a block, then combined run by run.
    for_blocks(walk_.begin, walk_.end, [&](std::int64_t at, std::int64_t n) {
      frame_.run(pass.list, n);
      for (std::int64_t k = 0; k < n;) {
        const std::int64_t count = std::min(run_end - (at + k), n - k);
        for (const int i : pass.reductions) {
          const ReductionCode& one = code(i);
          const auto bytes = static_cast<std::int64_t>(
              kernel_.operations[static_cast<std::size_t>(one.value)].bytes);
          one.loops->lanes(states(i), 1, frame_.value(one.value) + k * bytes, at + k, count);
        }
        k += count;
        if (at + k == run_end) end_run(at + k);
      }
    });
    for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
      const int i = pass.reductions[k];
      if (!code(i).ordered) code(i).loops->halve(states(i), heddle_blocks::unordered_lanes);
      set_result(i, one_run || !code(i).ordered ? states(i) : trees[k].totals(1));
    }
  }

  /// Combines the states of the row's parts.
  void combine_parts() {
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      const ReductionCode& one = kernel_.reductions[i];
      CombineTree parts = tree(static_cast<int>(i));
      for (std::int64_t part = walk_.begin; part < walk_.end; ++part)
        add_leaf(parts, *one.loops, state_in_memory(one, part));
      set_result(static_cast<int>(i), parts.totals(1));
    }
  }
  std::byte* state_in_memory(const ReductionCode& one, std::int64_t part) const {
    return frame_.buffer(one.partials) + (part * rows_ + row_) * one.loops->state_bytes;
  }
  void store_parts() {
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      const ReductionCode& one = kernel_.reductions[i];
      std::memcpy(state_in_memory(one, part_), results_[i],
                  static_cast<std::size_t>(one.loops->state_bytes));
    }
  }

  const BlockKernel& kernel_;
  BlockFrame& frame_;
  int inner_first_ = 0;
  std::int64_t most_ = 0, rows_ = 0, row_ = 0, part_ = 0;
  Walk walk_;
  std::vector<std::byte*> states_, trees_, results_;
};

}  // namespace

void run_rows(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin, std::int64_t end) {
  Rows(kernel, frame).run(begin, end);
}

}  // namespace heddle::runtime::host
