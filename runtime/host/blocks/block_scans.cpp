#include <algorithm>
#include <cstring>

#include "runtime/host/blocks/block_run.h"

namespace heddle::runtime::host {

namespace {

using heddle_blocks::scan_columns;
using heddle_blocks::scan_run;

/// What scans along rows and along columns share: their states, and totals of earlier parts.
class Scans {
 public:
  Scans(const BlockKernel& kernel, BlockFrame& frame) : kernel_(kernel), frame_(frame) {
    inner_first_ = static_cast<int>(kernel.outer.size());
    for (const ReductionCode& one : kernel.reductions) {
      const auto bytes = static_cast<std::size_t>(one.scan->state_bytes);
      const bool in_rows = kernel.mapping == passes::Mapping::scan_rows;
      states_.push_back(
          frame.scratch(bytes * static_cast<std::size_t>(kernel.lanes + scan_run + scan_columns)));
      running_.push_back(frame.scratch(
          static_cast<std::size_t>(in_rows ? one.scan->row_bytes : one.scan->columns_bytes)));
    }
  }

 protected:
  template <class Visit>
  void each(const Visit& visit) {
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i)
      visit(*kernel_.reductions[i].scan, kernel_.reductions[i], states_[i], running_[i]);
  }
  /// Where the partial states of `count` rows from `row` on are, of one part.
  std::byte* partials(const ReductionCode& one, std::int64_t part, std::int64_t row) const {
    return frame_.buffer(one.partials) +
           (part * frame_.size(kernel_.outer_total) + row) * one.scan->state_bytes;
  }
  bool has_earlier_parts() const { return kernel_.split > 1 && !kernel_.leaves_parts; }
  void lift(const ReductionCode& one, std::byte* states, std::int64_t n) const {
    const std::byte* const begins = one.begins < 0 ? nullptr : frame_.value(one.begins);
    one.scan->lift(states, frame_.value(one.value), begins, n);
  }
  void run_results(std::int64_t n) {
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i)
      frame_.set_states(static_cast<int>(i), states_[i]);
    if (!kernel_.results.stores.empty()) frame_.run(kernel_.results, n);
  }

  const BlockKernel& kernel_;
  BlockFrame& frame_;
  int inner_first_ = 0;
  std::vector<std::byte*> states_, running_;
};

class ScanRows : Scans {
 public:
  using Scans::Scans;

  void run(std::int64_t begin, std::int64_t end) {
    frame_.set_most_lanes(kernel_.lanes);
    frame_.run_once(kernel_.fixed);
    const std::int64_t rows = frame_.size(kernel_.outer_total);
    for (std::int64_t unit = begin; unit < end; ++unit) run_row(unit % rows, unit / rows);
  }

 private:
  void run_row(std::int64_t row, std::int64_t part) {
    frame_.set_loops(0, kernel_.outer, row);
    const Walk walk = walk_of(kernel_, frame_, part);
    each([&](const auto& loops, const ReductionCode& one, std::byte* states, std::byte* running) {
      loops.begin_row(running);
      loops.identity(states, scan_run);
      for (std::int64_t earlier = 0; has_earlier_parts() && earlier < part; ++earlier) {
        std::memcpy(states, partials(one, earlier, row),
                    static_cast<std::size_t>(loops.state_bytes));
        loops.add_one(running, states);
      }
      if (has_earlier_parts()) loops.identity(states, scan_run);
    });
    if (part == 0 && !kernel_.finish.stores.empty()) frame_.run(kernel_.finish, 1);
    std::int64_t last = scan_run - 1;  // the state with the total
    frame_.for_blocks(inner_first_, kernel_.inner, walk.begin, walk.end,
                      [&](std::int64_t, std::int64_t n) { last = run_block(n); });
    if (!kernel_.leaves_parts) return;
    each([&](const auto& loops, const ReductionCode& one, std::byte* states, std::byte*) {
      std::memcpy(partials(one, part, row), states + last * loops.state_bytes,
                  static_cast<std::size_t>(loops.state_bytes));
    });
  }

  /// Returns the number of the last state. Runs are filled up with identities.
  std::int64_t run_block(std::int64_t n) {
    frame_.run(kernel_.scanned, n);
    const std::int64_t whole = (n + scan_run - 1) / scan_run * scan_run;
    each([&](const auto& loops, const ReductionCode& one, std::byte* states, std::byte* running) {
      lift(one, states, n);
      loops.identity(states + n * loops.state_bytes, whole - n);
      for (std::int64_t k = 0; k < whole; k += scan_run)
        loops.add_run(running, states + k * loops.state_bytes);
    });
    run_results(n);
    return whole - 1;
  }
};

class ScanColumns : Scans {
 public:
  using Scans::Scans;

  void run(std::int64_t begin, std::int64_t end) {
    extent_ = frame_.size(kernel_.outer.back().extent);
    const std::int64_t blocks = (extent_ + scan_columns - 1) / scan_columns;
    const std::int64_t batches = frame_.size(kernel_.batches);
    const std::vector<LoopCode> rest(kernel_.outer.begin(), kernel_.outer.end() - 1);
    frame_.set_most_lanes(std::min<std::int64_t>(kernel_.lanes, scan_columns));
    frame_.run_once(kernel_.fixed);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t column = unit % blocks * scan_columns, outer = unit / blocks;
      frame_.set_loops(0, rest, outer % batches);
      run_columns(outer % batches, outer / batches, column,
                  std::min<std::int64_t>(extent_ - column, scan_columns));
    }
  }

 private:
  void run_columns(std::int64_t batch, std::int64_t part, std::int64_t column, std::int64_t count) {
    const int last = inner_first_ - 1;
    const std::int64_t row = batch * extent_ + column;
    const Walk walk = walk_of(kernel_, frame_, part);
    each([&](const auto& loops, const ReductionCode& one, std::byte* states, std::byte* running) {
      const auto bytes = static_cast<std::size_t>(count * loops.state_bytes);
      loops.begin_columns(running);
      for (std::int64_t earlier = 0; has_earlier_parts() && earlier < part; ++earlier) {
        std::memcpy(states, partials(one, earlier, row), bytes);
        loops.add_columns(running, states, count);
      }
      loops.identity(states, count);
    });
    frame_.set_lanes(last, column);
    if (part == 0 && !kernel_.finish.stores.empty()) frame_.run(kernel_.finish, count);
    for (std::int64_t at = walk.begin; at < walk.end; ++at) {
      frame_.set_loops(inner_first_, kernel_.inner, at);
      frame_.run(kernel_.scanned, count);
      each([&](const auto& loops, const ReductionCode& one, std::byte* states, std::byte* running) {
        lift(one, states, count);
        loops.add_columns(running, states, count);
      });
      run_results(count);
    }
    if (!kernel_.leaves_parts) return;
    each([&](const auto& loops, const ReductionCode& one, std::byte* states, std::byte*) {
      std::memcpy(partials(one, part, row), states,
                  static_cast<std::size_t>(count * loops.state_bytes));
    });
  }

  std::int64_t extent_ = 0;
};

}  // namespace

void run_scan_rows(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                   std::int64_t end) {
  ScanRows(kernel, frame).run(begin, end);
}

void run_scan_columns(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                      std::int64_t end) {
  ScanColumns(kernel, frame).run(begin, end);
}

}  // namespace heddle::runtime::host
