#include <algorithm>

#include "codegen/cuda_printer.h"
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
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.line("const Index column_blocks = (Index({}) + {}) / {};", extent, columns_a_block - 1,
            columns_a_block);
  out_.line(
      "const Index column = (Index(blockIdx.x) % column_blocks * {} + Index(threadIdx.x)) * {};",
      plan_.threads_per_row, plan_.vector);
  out_.line("const Index outer = Index(blockIdx.x) / column_blocks;");
  if (plan_.split > 1) {
    const std::string batches = body_.extent(passes::iterations(rest));
    out_.line("const Index batch = outer % ({}), part = outer / ({});", batches, batches);
  } else {
    out_.line("const Index batch = outer;");
  }
  body_.decode(rest, "batch");
  out_.line("const Index {} = column;", body_.loop_variable(last.atom));
  out_.line("const bool active = column < {};", extent);
  split_range("part", 1);
  define_states();
  out_.open("if (active)");
  const int threads_y = plan_.threads / plan_.threads_per_row;
  out_.directive("#pragma unroll 4");
  out_.open("for (Index r = begin + Index(threadIdx.y); r < end; r += {})", threads_y);
  column_body();
  out_.close();
  out_.close();
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = column_reduce<R{0}, {2}>(a{0}[k]);", i,
              plan_.vector, threads_y);
  }
  out_.open("if (active && threadIdx.y == 0)");
  column_results();
  out_.close();
}

void CudaPrinter::column_body() {
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  const std::string valid = tail ? body_.extent(last.extent) + " - column" : "";
  std::vector<int> roots;
  Stores stores;
  for (const Reduction& reduction : plan_.reductions) roots.push_back(reduction.value);
  for (const Store& store : plan_.stores) {
    if (!store.element) continue;
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  body_.decode(plan_.inner, "r");
  const std::vector<int> wanted = body_.needed_for(roots, false);
  vector_loads(wanted, last, valid);
  declare_stores(stores, last);
  open_lanes(last, tail);
  declare_all(wanted);
  combine_states(0, "r");
  lane_stores(stores, last, tail ? "first + k < " + body_.extent(last.extent) : "");
  close_lanes();
  vector_stores(stores, last, valid);
}

void CudaPrinter::column_results() {
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  const std::string valid = tail ? body_.extent(last.extent) + " - column" : "";
  const std::string inside = tail ? "first + k < " + body_.extent(last.extent) : "";
  const char* lane = plan_.vector > 1 ? "k" : "0";
  Stores stores;
  std::vector<int> roots;
  for (const Store& store : plan_.stores) {
    if (store.element) continue;
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  for (std::string& text : lane_of_) text.clear();
  const std::vector<int> wanted = body_.needed_for(roots, false);
  vector_loads(wanted, last, valid);
  declare_stores(stores, last);
  open_lanes(last, tail);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    out_.line("const R{0}::State t{0} = a{0}[{1}];", i, lane);
    if (plan_.split == 1) continue;
    const std::string condition = tail ? fmt::format("if ({}) ", inside) : "";
    out_.line("{}store(p{}, part * rows + batch * ({}) + {}, t{});", condition,
              plan_.reductions[i].partials, body_.extent(last.extent),
              body_.loop_variable(last.atom), i);
  }
  declare_all(wanted);
  lane_stores(stores, last, inside);
  close_lanes();
  vector_stores(stores, last, valid);
}

}  // namespace heddle::codegen
