#include "passes/plan/uneven_rows.h"

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"

namespace heddle::codegen {

using passes::Dim;
using passes::Loop;

// A thread has the vector of elements from e on. Mostly all are of one row.
void CudaPrinter::uneven_rows(const Stores& stores, const std::vector<int>& wanted) {
  const std::vector<Loop> row = passes::row_loops(plan_);
  std::string at = body_.loop_variable(row[0].atom);
  for (std::size_t i = 1; i < row.size(); ++i)
    at = fmt::format("({}) * {} + {}", at, body_.extent(row[i].extent),
                     body_.loop_variable(row[i].atom));
  out_.line("const Index at = {};", at);
  out_.open("if (at + {} <= {})", plan_.vector, body_.extent(passes::iterations(row)));
  vectors_of_a_row(stores, wanted, row);
  out_.close_and_else();
  body_.packs_truths = false;
  for (const int i : wanted) lane_of_[static_cast<std::size_t>(i)].clear();
  elements_of_two_rows(stores, wanted);
  out_.close();
}

void CudaPrinter::vectors_of_a_row(const Stores& stores, const std::vector<int>& wanted,
                                   const std::vector<Loop>& row) {
  const Loop& last = plan_.outer.back();
  out_.line("const Index first = at;");
  vector_loads(wanted, last, "");
  declare_stores(stores, last);
  const auto lanes = [&] {
    out_.directive("#pragma unroll");
    open_lane_loop();
    body_.decode(row, "(first + k)");
    declare_all(wanted);
    lane_stores(stores, last, "");
    out_.close();
  };
  if (has_quick_way(wanted, stores, last)) {
    out_.line("bool rare = false;");
    print_with_exact_fallback(lanes);
  } else {
    lanes();
  }
  vector_stores(stores, last, "");
}

// One at a time, and in a loop that is not unrolled: few threads run it.
void CudaPrinter::elements_of_two_rows(const Stores& stores, const std::vector<int>& wanted) {
  const Dim all = passes::iterations(plan_.outer);
  out_.directive("#pragma unroll 1");
  out_.open("for (Index one = e; one < e + {}{}; ++one)", plan_.vector,
            all.divisible_by(plan_.vector) ? "" : " && one < " + body_.extent(all));
  body_.decode(plan_.outer, "one");
  declare_all(wanted);
  for (const passes::Store* store : stores) {
    out_.line("{}(p{}, {}, v{});", store_name(*store), store->operand, body_.index(store->address),
              store->value);
  }
  out_.close();
}

}  // namespace heddle::codegen
