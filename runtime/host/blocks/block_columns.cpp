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

/// Runs the column blocks of a kernel. The columns of a block are taken in stretches of at most
/// `lanes`.
class Columns {
 public:
  Columns(const BlockKernel& kernel, BlockFrame& frame)
      : kernel_(kernel),
        frame_(frame),
        last_(static_cast<int>(kernel.outer.size()) - 1),
        rest_(kernel.outer.begin(), kernel.outer.end() - 1) {
    for (const ReductionCode& one : kernel.reductions) {
      const std::size_t levels = one.ordered ? CombineTree::levels : 1;
      states_.push_back(frame.scratch(levels * static_cast<std::size_t>(kernel.lanes) *
                                      static_cast<std::size_t>(one.loops->state_bytes)));
    }
  }

  void run(std::int64_t begin, std::int64_t end) {
    extent_ = frame_.size(kernel_.outer.back().extent);
    rows_ = frame_.size(kernel_.outer_total);
    const std::int64_t width = kernel_.column_width, batches = frame_.size(kernel_.batches);
    const std::int64_t blocks = (extent_ + width - 1) / width;
    frame_.set_most_lanes(std::min(kernel_.lanes, extent_));
    frame_.run_once(kernel_.fixed);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t column = unit % blocks * width, outer = unit / blocks;
      batch_ = outer % batches;
      part_ = outer / batches;
      frame_.set_loops(0, rest_, batch_);
      if (kernel_.segment >= 0) frame_.run_once(kernel_.of_rows[0]);
      walk_ = walk_of(kernel_, frame_, part_);
      const std::int64_t stop = std::min(column + width, extent_);
      for (std::int64_t at = column; at < stop; at += kernel_.lanes)
        run_stretch(at, std::min(kernel_.lanes, stop - at));
    }
  }

 private:
  const ReductionCode& code(int reduction) const {
    return kernel_.reductions[static_cast<std::size_t>(reduction)];
  }

  void run_stretch(std::int64_t column, std::int64_t n) {
    column_ = column;
    n_ = n;
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      if (!kernel_.reductions[i].ordered) kernel_.reductions[i].loops->identity(states_[i], n);
    }
    for (const PassCode& pass : kernel_.passes) run_pass(pass);
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i)
      frame_.set_states(static_cast<int>(i), states_[i]);
    if (kernel_.split > 1) store_parts();
    frame_.set_lanes(last_, column);
    frame_.run(kernel_.finish, n);
  }

  /// Adds rows first, first + step ... before `stop`.
  void add_rows(const PassCode& pass, const std::vector<std::byte*>& to, std::int64_t first,
                std::int64_t stop, std::int64_t step) {
    const auto inner_first = static_cast<int>(kernel_.outer.size());
    for (std::int64_t row = first; row < stop; row += step) {
      frame_.set_loops(inner_first, kernel_.inner, row);
      frame_.set_lanes(last_, column_);
      frame_.run(pass.list, n_);
      for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
        const ReductionCode& one = code(pass.reductions[k]);
        one.loops->columns(to[k], frame_.value(one.value), row, n_);
      }
    }
  }

  void run_pass(const PassCode& pass) {
    std::vector<CombineTree> trees;
    std::vector<std::byte*> to;
    bool ordered = false;
    for (const int i : pass.reductions) {
      trees.emplace_back(*code(i).loops, kernel_.lanes, states_[static_cast<std::size_t>(i)]);
      to.push_back(states_[static_cast<std::size_t>(i)]);
      ordered |= code(i).ordered;
    }
    if (!ordered) return add_rows(pass, to, walk_.begin, walk_.end, 1);
    const ReductionCode& first = code(pass.reductions[0]);
    const bool in_rows_order = first.ordered && !first.in_columns_order;
    const int bytes = first.loops->state_bytes;
    const std::int64_t length =
        in_rows_order ? reduce::block_length(bytes) : run_length(kernel_, frame_);
    const int lanes = in_rows_order ? reduce::lanes_of(frame_.size(kernel_.inner_total), bytes) : 1;
    for (std::int64_t block = walk_.begin; block < walk_.end; block += length) {
      const std::int64_t stop = std::min(block + length, walk_.end);
      for (int turn = 0; turn < lanes; ++turn) {
        for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
          const ReductionCode& one = code(pass.reductions[k]);
          if (!one.ordered) continue;
          to[k] = trees[k].leaf();
          one.loops->identity(to[k], n_);
        }
        const int lane = in_rows_order ? reduce::lane_at(turn, lanes) : 0;
        add_rows(pass, to, block + lane, stop, lanes);
        for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
          if (code(pass.reductions[k]).ordered) trees[k].add_leaf(n_);
        }
      }
    }
    for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
      if (code(pass.reductions[k]).ordered) trees[k].totals(n_);
    }
  }

  void store_parts() {
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      const ReductionCode& one = kernel_.reductions[i];
      const std::int64_t at = part_ * rows_ + batch_ * extent_ + column_;
      std::memcpy(frame_.buffer(one.partials) + at * one.loops->state_bytes, states_[i],
                  static_cast<std::size_t>(n_ * one.loops->state_bytes));
    }
  }

  const BlockKernel& kernel_;
  BlockFrame& frame_;
  int last_;
  std::vector<LoopCode> rest_;
  std::int64_t extent_ = 0, rows_ = 0, batch_ = 0, part_ = 0, column_ = 0, n_ = 0;
  Walk walk_;
  std::vector<std::byte*> states_;
};

}  // namespace

void run_columns(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                 std::int64_t end) {
  Columns(kernel, frame).run(begin, end);
}

}  // namespace heddle::runtime::host
