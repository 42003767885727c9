#include <algorithm>
#include <set>

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"

namespace heddle::codegen {

using passes::Loop;
using passes::Reduction;
using passes::Store;

void CudaPrinter::columns() {
  body_.need("column_reduce");
  const Loop& last = plan_.outer.back();
  const std::vector<Loop> rest(plan_.outer.begin(), plan_.outer.end() - 1);
  const std::string extent = body_.extent(last.extent);
  const int columns_a_block = plan_.threads_per_row * plan_.vector;
  std::string block = block_index();
  if (plan_.cluster > 1) {
    open_exchanges();
    out_.line("const Index block = {} / {};", block, plan_.cluster);
    block = "block";
  }
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.line("const Index column_blocks = (Index({}) + {}) / {};", extent, columns_a_block - 1,
            columns_a_block);
  out_.line("const Index column = ({} % column_blocks * {} + Index(threadIdx.x)) * {};", block,
            plan_.threads_per_row, plan_.vector);
  out_.line("const Index outer = {} / column_blocks;", block);
  if (plan_.split > 1) {
    const std::string batches = body_.extent(passes::iterations(rest));
    out_.line("const Index batch = outer % ({}), part = outer / ({});", batches, batches);
  } else {
    out_.line("const Index batch = outer;");
  }
  body_.decode(rest, "batch");
  out_.line("const bool active = column < {};", extent);
  // All threads of a block take part in its reductions. So threads beyond the last column compute
  // the first column again.
  out_.line("const Index {} = active ? column : 0;", body_.loop_variable(last.atom));
  split_range(1);
  if (plan_.held > 0) {
    const std::string valid = has_tail(last) ? extent + " - " + body_.loop_variable(last.atom) : "";
    hold_loads(valid, [&] {
      open_held_column();
      body_.decode(plan_.inner, "r");
    });
  }
  for (int stage = 0; stage < plan_.stages; ++stage) {
    column_values(stage);
    column_stage(stage);
  }
  column_values(plan_.stages);
  if (std::ranges::all_of(plan_.stores, &Store::element) && plan_.split == 1) return;
  out_.open("if (active && threadIdx.y == 0{})",
            plan_.cluster > 1 ? " && cluster_rank() == 0" : "");
  column_results();
  out_.close();
}

// Opens the loop over the inner iterations that a thread holds in registers.
void CudaPrinter::open_held_column() {
  const int threads_y = plan_.threads / plan_.threads_per_row;
  out_.directive("#pragma unroll");
  out_.open("for (int h = 0; h < {}; ++h)", plan_.held);
  out_.line("const Index r = begin + Index(h) * {} + Index(threadIdx.y);", threads_y);
  const passes::Dim held = plan_.cluster * plan_.held * threads_y;
  if (!(passes::iterations(plan_.inner) == held)) out_.line("if (r >= end) continue;");
}

// Prints values of the column that can be computed before `stage`, one for each vector lane.
void CudaPrinter::column_values(int stage) {
  const std::vector<int> values = body_.row_values(stage);
  if (values.empty()) return;
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  for (const int i : values) {
    lane_of_[i].clear();
    out_.line("{} c{}[{}];", body_.variable_type(i), i, plan_.vector);
  }
  out_.open_block();
  const std::string position = body_.loop_variable(last.atom);
  vector_loads(values, last, tail ? body_.extent(last.extent) + " - " + position : "");
  open_lanes(last, tail);
  name_column_values(values);
  std::set<int> named;  // several values may be parts of one state
  for (const int i : values) {
    const int reduction = plan_.body[i].reduction;
    if (reduction >= 0 && named.insert(reduction).second)
      out_.line("const R{0}::State t{0} = a{0}[{1}];", reduction, lane());
    declare_all({i});
    out_.line("c{}[{}] = v{};", i, lane(), i);
  }
  close_lanes();
  out_.close();
  for (const int i : values) body_.declared[i] = true;
}

void CudaPrinter::name_column_values(const std::vector<int>& roots) {
  for (const int i : body_.declared_for(roots))
    out_.line("const {} v{} = c{}[{}];", body_.variable_type(i), i, i, lane());
}

void CudaPrinter::column_stage(int stage) {
  const char* const first = "begin + Index(threadIdx.y)";
  define_states(stage, first);
  const int threads_y = plan_.threads / plan_.threads_per_row;
  print_fast_pass(stage, "c{}", [&] {
    if (plan_.held > 0) {
      open_held_column();
      fold_held(stage);
    } else {
      out_.open("if (active)");
      open_row_loop(stage, first, threads_y);
    }
    column_body(stage);
    close_row_loop(stage);
    if (plan_.held == 0) out_.close();
  });
  finish_states(stage, first);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.reductions[i].stage != stage) continue;
    out_.line("reduce_columns<R{0}, {1}, {2}>(a{0});", i, plan_.threads_per_row, plan_.threads);
    if (plan_.cluster > 1) reduce_cluster(i, fmt::format("a{}", i));
  }
}

void CudaPrinter::column_body(int stage) {
  const Loop& last = plan_.outer.back();
  const std::string position = body_.loop_variable(last.atom);
  const bool tail = has_tail(last);
  const std::string valid = tail ? body_.extent(last.extent) + " - " + position : "";
  std::vector<int> roots;
  Stores stores;
  for (const Reduction& reduction : plan_.reductions) {
    if (reduction.stage == stage) roots.push_back(reduction.value);
  }
  for (const Store& store : plan_.stores) {
    if (!store.element || store.stage != stage) continue;
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  body_.decode(plan_.inner, "r");
  const std::vector<int> wanted = body_.needed_for(roots, true);
  for (const int i : wanted) {
    if (!plan_.body[i].held) lane_of_[i].clear();
  }
  vector_loads(wanted, last, valid);
  declare_stores(stores, last);
  open_lanes(last, tail);
  name_column_values(roots);
  declare_all(wanted);
  combine_states(stage, "r");
  const std::string inside = tail ? "first + k < " + body_.extent(last.extent) : "";
  const bool always = plan_.held == 0;  // inside a branch of active threads
  lane_stores(stores, last, always ? inside : inside.empty() ? "active" : "active && " + inside);
  close_lanes();
  if (stores.empty()) return;
  if (!always) out_.open("if (active)");
  vector_stores(stores, last, valid);
  if (!always) out_.close();
}

void CudaPrinter::column_results() {
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  const std::string valid =
      tail ? body_.extent(last.extent) + " - " + body_.loop_variable(last.atom) : "";
  const std::string inside = tail ? "first + k < " + body_.extent(last.extent) : "";
  Stores stores;
  std::vector<int> roots;
  for (const Store& store : plan_.stores) {
    if (store.element) continue;
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  declare_stores(stores, last);
  open_lanes(last, tail);
  for (std::size_t i = 0; i < plan_.reductions.size() && plan_.split > 1; ++i) {
    const std::string condition = tail ? fmt::format("if ({}) ", inside) : "";
    out_.line("{}store(p{}, part * rows + batch * ({}) + {}, a{}[{}]);", condition,
              plan_.reductions[i].partials, body_.extent(last.extent),
              body_.loop_variable(last.atom), i, lane());
  }
  name_column_values(roots);
  lane_stores(stores, last, inside);
  close_lanes();
  vector_stores(stores, last, valid);
}

}  // namespace heddle::codegen
