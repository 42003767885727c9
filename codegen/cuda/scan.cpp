#include <algorithm>

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/details.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::KernelOperand;
using passes::Loop;
using passes::Reduction;
using passes::Store;

namespace {

std::size_t flags_of(const passes::KernelPlan& plan) {
  const auto flags = std::ranges::find(plan.operands, true, &KernelOperand::flags);
  return static_cast<std::size_t>(flags - plan.operands.begin());
}

}  // namespace

void CudaPrinter::scan_block(const std::string& rows_a_tile) {
  if (!plan_.look_back) {
    out_.line("const Index block = {};", block_index());
    return;
  }
  // Tiles of the same row get tickets in order; tiles of different rows are interleaved.
  out_.line("const Index tiles = (Index({}) + {}) / {};",
            body_.extent(passes::iterations(plan_.inner)), passes::scan_tile(plan_) - 1,
            passes::scan_tile(plan_));
  out_.line("const Index ticket = take_ticket(p{});", flags_of(plan_));
  out_.line("const Index tile = ticket / {0}, block = ticket % {0};", rows_a_tile);
}

// The TileOffsets of a tile. `row` is the offset of the tree of states; `slot` is the index of the
// tree of flags, of which there are `slots` per scan.
std::string CudaPrinter::tile_place(std::size_t scan, const std::string& row,
                                    const std::string& slot, const std::string& slots) const {
  const std::string first = scan == 0 ? "1" : fmt::format("1 + {}ll * {} * tiles", 2 * scan, slots);
  return fmt::format("TileOffsets{{{}, {} + {} * 2ll * tiles, tiles, tile}}", row, first, slot);
}

void CudaPrinter::scan_rows() {
  body_.need("block_scan");
  const int lanes = plan_.threads_per_row;
  const Loop& last = plan_.inner.back();
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  if (plan_.look_back) body_.need("look_back");
  scan_block("rows");
  out_.line("const int lane = static_cast<int>(threadIdx.x) % {};", lanes);
  out_.line("const Index wanted = block * {} + Index(threadIdx.x) / {};", plan_.threads / lanes,
            lanes);
  out_.line("const bool active = wanted < rows;");
  out_.line("const Index row = active ? wanted : rows - 1;");
  body_.decode(plan_.outer, "row");
  if (plan_.look_back) out_.line("const Index begin = tile * {};", passes::scan_tile(plan_));
  out_.line("const Index end = {};", body_.extent(last.extent));
  row_values(0);
  const auto open = [&] {
    out_.directive("#pragma unroll");
    out_.open("for (int h = 0; h < {}; ++h)", plan_.held);
    out_.line("const Index r = {}(Index(h) * {} + lane) * {};", plan_.look_back ? "begin + " : "",
              lanes, plan_.vector);
    if (!last.extent.divisible_by(passes::scan_tile(plan_))) out_.line("if (r >= end) continue;");
    body_.decode(plan_.inner, "r");
  };
  const bool tail = has_tail(last);
  scan_passes(last, tail ? "end - r" : "", tail ? "r + k < end" : "", open, [&] {
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      if (!plan_.reductions[i].scan) continue;
      const std::string scan = fmt::format("scan_groups<R{}, {}>(a{})", i, lanes, i);
      if (!plan_.look_back) {
        out_.line("{};", scan);
        continue;
      }
      const std::string place = tile_place(i, "row * 2ll * tiles", "row", "rows");
      out_.line("const R{0}::State b{0} = look_back<R{0}>({1}, p{2}, p{3}, {4});", i, scan,
                plan_.reductions[i].partials, flags_of(plan_), place);
    }
  });
  scan_row_values("lane == 0");
}

void CudaPrinter::scan_columns() {
  body_.need("column_scan");
  const Loop& last = plan_.outer.back();
  const std::vector<Loop> rest(plan_.outer.begin(), plan_.outer.end() - 1);
  const std::string extent = body_.extent(last.extent);
  const int across = plan_.threads_per_row, threads_y = plan_.threads / across;
  out_.line("const Index column_blocks = (Index({}) + {}) / {};", extent, across * plan_.vector - 1,
            across * plan_.vector);
  if (plan_.look_back) {
    body_.need("look_back_columns");
    out_.line("const Index blocks = column_blocks * ({});", body_.extent(passes::iterations(rest)));
  }
  scan_block("blocks");
  out_.line("const Index column = (block % column_blocks * {} + Index(threadIdx.x)) * {};", across,
            plan_.vector);
  out_.line("const Index batch = block / column_blocks;");
  body_.decode(rest, "batch");
  out_.line("const Index {} = column;", body_.loop_variable(last.atom));
  out_.line("const bool active = column < {};", extent);
  out_.line("const Index begin = {}Index(threadIdx.y) * {};",
            plan_.look_back ? fmt::format("tile * {} + ", passes::scan_tile(plan_)) : "",
            plan_.held);
  out_.line("const Index end = {};", body_.extent(plan_.inner.back().extent));
  const auto open = [&] {
    out_.directive("#pragma unroll");
    out_.open("for (int h = 0; h < {}; ++h)", plan_.held);
    out_.line("const Index r = begin + h;");
    out_.line("if (!active || r >= end) continue;");
    body_.decode(plan_.inner, "r");
  };
  const bool tail = has_tail(last);
  const std::string valid = extent + " - column";
  scan_passes(last, tail ? valid : "", tail ? "first + k < " + extent : "", open, [&] {
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      out_.line("R{0}::State t{0}[{1}];", i, plan_.vector);
      out_.line("column_scan<R{0}, {1}>(a{0}, t{0});", i, threads_y);
      if (!plan_.look_back) continue;
      const std::string place = tile_place(
          i, fmt::format("batch * 2ll * tiles * ({}) + column", extent), "block", "blocks");
      out_.line("R{0}::State b{0}[{1}];", i, plan_.vector);
      out_.line(
          "look_back_columns<R{0}>(t{0}, b{0}, p{1}, p{2}, {3}, {4}, static_cast<int>({5} < {6} ? "
          "{5} : {6}));",
          i, plan_.reductions[i].partials, flags_of(plan_), place, extent, valid, plan_.vector);
    }
  });
  scan_row_values("threadIdx.y == 0");
}

// Prints the stores of values that do not depend on the scanned axis.
void CudaPrinter::scan_row_values(const std::string& leads) {
  std::vector<int> roots;
  Stores stores;
  for (const Store& store : plan_.stores) {
    if (store.element) continue;
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  if (stores.empty()) return;
  const bool in_columns = plan_.mapping == passes::Mapping::scan_columns;
  const Loop* last = in_columns ? &plan_.outer.back() : nullptr;
  out_.open("if (active && {}{})", leads, plan_.look_back ? " && tile == 0" : "");
  if (in_columns) open_lanes(*last, has_tail(*last));
  for (std::string& text : lane_of_) text.clear();
  declare_all(body_.needed_for(roots, false));
  const bool tail = in_columns && has_tail(*last);
  for (const Store* store : stores) {
    out_.line("{}store(p{}, {}, v{});",
              tail ? fmt::format("if (first + k < {}) ", body_.extent(last->extent)) : "",
              store->operand, body_.index(store->address), store->value);
  }
  if (in_columns) close_lanes();
  out_.close();
}

void CudaPrinter::scan_passes(const Loop& along, const std::string& valid,
                              const std::string& inside, const std::function<void()>& open,
                              const std::function<void()>& combine) {
  hold_loads(valid, open);
  scan_states(along, valid, inside, open);
  combine();
  scan_results(along, valid, inside, open);
}

void CudaPrinter::scan_states(const Loop& along, const std::string& valid,
                              const std::string& inside, const std::function<void()>& open) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (!plan_.reductions[i].scan) continue;
    out_.line("R{0}::State a{0}[{1}][{2}];", i, plan_.held, plan_.vector);
    out_.directive("#pragma unroll");
    out_.open("for (int h = 0; h < {}; ++h)", plan_.held);
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {1}; ++k) a{0}[h][k] = R{0}::identity();", i, plan_.vector);
    out_.close();
  }
  open();
  const std::vector<int> wanted = body_.needed_for(passes::pass_roots(plan_)[0], false);
  vector_loads(wanted, along, valid);
  open_lanes(along, !inside.empty());
  declare_all(wanted);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (!plan_.reductions[i].scan) continue;
    const std::string condition = inside.empty() ? "" : fmt::format("if ({}) ", inside);
    out_.line("{}a{}[h][{}] = {};", condition, i, plan_.vector > 1 ? "k" : "0", body_.lift(i, "r"));
  }
  close_lanes();
  out_.close();
}

void CudaPrinter::scan_results(const Loop& along, const std::string& valid,
                               const std::string& inside, const std::function<void()>& open) {
  Stores stores;
  for (const Store& store : plan_.stores) {
    if (store.element) stores.push_back(&store);
  }
  const bool in_rows = plan_.mapping == passes::Mapping::scan_rows;
  const bool reduces = std::ranges::any_of(
      plan_.reductions, [](const Reduction& reduction) { return !reduction.scan; });
  const std::string begin = fmt::format("Index(lane) * {} + k", plan_.vector);
  if (reduces) define_states(0, begin);
  open();
  const std::vector<int> wanted = body_.needed_for(passes::pass_roots(plan_)[1], false);
  for (const int i : wanted) {
    if (!plan_.body[i].held) lane_of_[i].clear();
  }
  vector_loads(wanted, along, valid);
  declare_stores(stores, along);
  open_lanes(along, !inside.empty());
  const char* lane = plan_.vector > 1 ? "k" : "0";
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (!plan_.reductions[i].scan) continue;
    if (!plan_.look_back) {
      out_.line("const R{0}::State c{0} = a{0}[h][{1}];", i, lane);
    } else {
      out_.line("const R{0}::State c{0} = R{0}::combine(b{0}{1}, a{0}[h][{2}]);", i,
                in_rows ? "" : fmt::format("[{}]", lane), lane);
    }
  }
  declare_all(wanted);
  if (reduces) {
    if (!inside.empty()) out_.open("if ({})", inside);
    combine_states(0, plan_.vector > 1 ? "r + k" : "r");
    if (!inside.empty()) out_.close();
  }
  std::string guard = in_rows ? "active" : "";
  if (!inside.empty()) guard += (guard.empty() ? "" : " && ") + inside;
  lane_stores(stores, along, guard);
  close_lanes();
  if (in_rows) out_.open("if (active)");
  vector_stores(stores, along, valid);
  if (in_rows) out_.close();
  out_.close();
  if (!reduces) return;
  finish_states(0, begin);
  reduce_row(0);
}

}  // namespace heddle::codegen
