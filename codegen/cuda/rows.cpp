#include <algorithm>

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/skewed_rows.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::Loop;
using passes::Reduction;
using passes::Store;

void CudaPrinter::rows() {
  body_.need("block_reduce");
  const int lanes = plan_.threads_per_row, rows_a_block = plan_.threads / lanes;
  const std::string total = body_.extent(passes::iterations(plan_.outer));
  out_.line("const Index rows = {};", total);
  std::string block = block_index();
  if (plan_.cluster > 1) {
    block += fmt::format(" / {}", plan_.cluster);
    open_exchanges();
  }
  if (plan_.split > 1) {
    out_.line("const Index row_blocks = (rows + {}) / {};", rows_a_block - 1, rows_a_block);
    out_.line("const Index part = {} / row_blocks;", block);
    block = fmt::format("({} - part * row_blocks)", block);
  }
  if (plan_.long_row == 0) {
    thread_row(block);
    one_row();
    return;
  }
  body_.need("long_rows");
  lanes_ = "lanes";
  out_.open("const auto reduce_row = [&](auto threads, Index row, bool is_row, int lane)");
  out_.line("constexpr int lanes = decltype(threads)::count;");
  one_row();
  out_.line("return is_long;");
  out_.close_with(";");
  thread_row(block);
  out_.line("const bool is_long = reduce_row(Threads<{}>(), row, active, lane);", lanes);
  out_.line("const int own = static_cast<int>(threadIdx.x) / {};", lanes);
  out_.open("for (int next = -1;;)");
  out_.line("next = least_of_block<{}>(is_long && own > next, own);", plan_.threads);
  out_.line("if (next >= {}) return;", rows_a_block);
  out_.line("const Index long_row = {} * {} + next;", block, rows_a_block);
  out_.line("reduce_row(Threads<{}>(), long_row, true, static_cast<int>(threadIdx.x));",
            plan_.threads);
  out_.close();
}

// All threads of a block take part in the reduction. So threads beyond the last row compute the
// last row again.
void CudaPrinter::thread_row(const std::string& block) {
  const int lanes = plan_.threads_per_row, rows_a_block = plan_.threads / lanes;
  out_.line("const int lane = static_cast<int>(threadIdx.x) % {};", lanes);
  out_.line("const Index wanted = {} * {} + Index(threadIdx.x) / {};", block, rows_a_block, lanes);
  out_.line("const bool active = wanted < rows;");
  out_.line("const Index row = active ? wanted : rows - 1;");
}

void CudaPrinter::one_row() {
  body_.decode(plan_.outer, "row");
  row_values(0);
  split_range(plan_.vector);
  if (plan_.long_row > 0) {
    out_.line("const bool is_long = is_row && row_end - begin > {};", plan_.long_row);
    out_.line("if (lanes == {} && !is_long) return false;", plan_.threads);
    out_.line("const bool active = is_row && is_long == (lanes == {});", plan_.threads);
    out_.line("const Index end = active ? row_end : begin;");
  }
  if (plan_.skewed >= 0) {
    const Instruction& load = plan_.body[static_cast<std::size_t>(plan_.skewed)];
    out_.line("const Index skew = ({} + begin) % {};",
              body_.index(passes::begin_of_row(plan_, load)), plan_.vector);
  }
  if (plan_.held > 0) {
    const Loop& last = plan_.inner.back();
    hold_loads(has_tail(last) ? "end - r" : "", [&] {
      open_held();
      body_.decode(plan_.inner, "r");
    });
  }
  for (int stage = 0; stage < plan_.stages; ++stage) {
    row_values(stage);
    row_stage(stage);
  }
  row_values(plan_.stages);
  row_results();
}

// Prints values of the row that can be computed before `stage`.
void CudaPrinter::row_values(int stage) {
  for (const int i : body_.row_values(stage)) {
    declare_all({i});
    body_.declared[i] = true;
  }
}

void CudaPrinter::hold_loads(const std::string& valid, const std::function<void()>& open) {
  std::vector<int> held;
  for (std::size_t i = 0; i < plan_.body.size(); ++i) {
    const Instruction& load = plan_.body[i];
    if (!load.held) continue;
    if (load.kind == Instruction::Kind::load) held.push_back(static_cast<int>(i));
    out_.line("Vector<{}, {}> h{}[{}];", body_.type(load.dtype), plan_.vector, i, plan_.held);
  }
  if (held.empty()) return;
  open();
  for (const int i : held) {
    const Instruction& load = plan_.body[i];
    const std::string address = body_.index(load.address);
    lane_of_[i] = fmt::format("h{}[h].v[{}]", i, plan_.vector > 1 ? "k" : "0");
    if (plan_.vector > 1 && !valid.empty()) {
      body_.need("part");
      out_.line("h{}[h] = load_part<{}>(p{}, {}, Index({}));", i, plan_.vector, load.operand,
                address, valid);
    } else if (plan_.vector > 1) {
      out_.line("h{}[h] = load_vector<{}>(p{}, {});", i, plan_.vector, load.operand, address);
    } else {
      out_.line("h{}[h].v[0] = load(p{}, {});", i, load.operand, address);
    }
  }
  out_.close();
}

// Opens the loop over the vectors that a thread holds in registers.
void CudaPrinter::open_held() {
  out_.directive("#pragma unroll");
  out_.open("for (int h = 0; h < {}; ++h)", plan_.held);
  out_.line("const Index r = {}(Index(h) * {} + lane) * {};", plan_.cluster > 1 ? "begin + " : "",
            plan_.threads_per_row, plan_.vector);
  const passes::Dim held = plan_.cluster * plan_.held * plan_.threads_per_row * plan_.vector;
  if (!(passes::iterations(plan_.inner) == held)) out_.line("if (r >= end) continue;");
}

void CudaPrinter::row_stage(int stage) {
  const int stride = (lanes_.empty() ? plan_.threads_per_row : 1) * plan_.vector;
  const std::string first =
      fmt::format("begin + lane * {}{}", plan_.vector, plan_.vector > 1 ? " + k" : "");
  define_states(stage, first);
  print_fast_pass(stage, "v{}", [&] {
    if (plan_.held > 0) {
      open_held();
      fold_held(stage);
    } else {
      // A row without elements has none in front of it either.
      const std::string lanes = fmt::format("lane * {}", plan_.vector);
      open_row_loop(stage,
                    plan_.skewed >= 0 ? "begin < end ? begin - skew + " + lanes + " : end"
                                      : "begin + " + lanes,
                    stride);
    }
    row_body(stage);
    close_row_loop(stage);
  });
  finish_states(stage, first);
  reduce_row(stage);
}

// Combines the states of the threads of a row.
void CudaPrinter::reduce_row(int stage) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.reductions[i].scan || plan_.reductions[i].stage != stage) continue;
    if (!folds(plan_.reductions[i])) {
      out_.line("R{0}::State t{0} = a{0}[0];", i);
      if (plan_.vector > 1) {
        out_.directive("#pragma unroll");
        out_.line("for (int k = 1; k < {1}; ++k) t{0} = R{0}::combine(t{0}, a{0}[k]);", i,
                  plan_.vector);
      }
    }
    out_.line("t{0} = reduce_groups<R{0}, {1}>(t{0});", i,
              lanes_.empty() ? std::to_string(plan_.threads_per_row) : lanes_);
    if (plan_.cluster == 1) continue;
    out_.line("R{0}::State all{0}[] = {{t{0}}};", i);
    reduce_cluster(i, fmt::format("all{}", i));
    out_.line("t{0} = all{0}[0];", i);
  }
}

void CudaPrinter::row_body(int stage) {
  const Loop& last = plan_.inner.back();
  std::vector<int> roots;
  Stores stores;
  for (const Reduction& reduction : plan_.reductions) {
    if (reduction.stage == stage && reduction.value >= 0) roots.push_back(reduction.value);
  }
  for (const Store& store : plan_.stores) {
    if (!store.element || store.stage != stage) continue;
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  body_.decode(plan_.inner, "r");
  if (plan_.skewed < 0) return row_vector(stage, roots, stores, has_tail(last));
  // Only the first and the last vectors contain elements of other rows.
  out_.open("if (r >= begin && r + {} <= end)", plan_.vector);
  row_vector(stage, roots, stores, false);
  out_.close();
  out_.open("else");
  row_vector(stage, roots, stores, true);
  out_.close();
}

// The values that an earlier pass has kept and this one uses, marked as declared.
std::vector<int> CudaPrinter::kept_values(int stage, const std::vector<int>& roots) {
  std::vector<int> all;
  for (std::size_t i = 0; i < plan_.body.size(); ++i) {
    const Instruction& one = plan_.body[i];
    if (!one.held || one.kind == Instruction::Kind::load || one.stage >= stage) continue;
    body_.declared[i] = true;
    all.push_back(static_cast<int>(i));
  }
  std::vector<int> used = body_.declared_for(roots);
  std::erase_if(used, [&](int i) { return std::ranges::find(all, i) == all.end(); });
  for (const int i : all) body_.declared[i] = std::ranges::find(used, i) != used.end();
  return used;
}

// `tail`: elements of the vector may be outside of the row.
void CudaPrinter::row_vector(int stage, const std::vector<int>& roots, const Stores& stores,
                             bool tail) {
  const Loop& last = plan_.inner.back();
  const std::string valid = tail ? "end - r" : "";
  const std::vector<int> kept = kept_values(stage, roots);
  const std::vector<int> wanted = body_.needed_for(roots, true);
  for (const int i : kept) body_.declared[i] = false;
  for (const int i : wanted) {
    if (!plan_.body[i].held) lane_of_[i].clear();
  }
  vector_loads(wanted, last, valid);
  declare_stores(stores, last);
  open_lanes(last, tail);
  const char* const lane = plan_.vector > 1 ? "k" : "0";
  for (const int i : kept)
    out_.line("const {} v{} = h{}[h].v[{}];", body_.variable_type(i), i, i, lane);
  declare_all(wanted);
  for (const int i : wanted) {
    const Instruction& one = plan_.body[i];
    if (one.held && one.kind != Instruction::Kind::load)
      out_.line("h{}[h].v[{}] = v{};", i, lane, i);
  }
  if (tail) out_.open("if ({}r + k < end)", plan_.skewed >= 0 ? "r + k >= begin && " : "");
  combine_states(stage, plan_.vector > 1 ? "r + k" : "r");
  if (tail) out_.close();
  lane_stores(stores, last, tail ? "active && r + k < end" : "active");
  close_lanes();
  if (stores.empty()) return;
  out_.open("if (active)");
  vector_stores(stores, last, valid);
  out_.close();
}

void CudaPrinter::row_results() {
  std::vector<std::string> lines;
  if (plan_.split > 1) {
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      lines.push_back(
          fmt::format("store(p{}, part * rows + row, t{});", plan_.reductions[i].partials, i));
    }
  }
  for (const Store& store : plan_.stores) {
    if (store.element) continue;
    lines.push_back(fmt::format("store(p{}, {}, v{});", store.operand, body_.index(store.address),
                                store.value));
  }
  if (lines.empty()) return;
  out_.open("if (active && lane == 0{})", plan_.cluster > 1 ? " && cluster_rank() == 0" : "");
  for (const std::string& line : lines) out_.line("{}", line);
  out_.close();
}

}  // namespace heddle::codegen
