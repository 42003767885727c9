#include <algorithm>

#include "codegen/host_printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::Loop;
using passes::Reduction;
using passes::Store;

/// Keys and places lie apart, so that the compiler can make vectors of either.
void HostPrinter::begin_columns(int i) {
  if (!finds_place(plan_.reductions[i])) {
    out_.line("{}R{}::State a{}[{}];", aligned, i, i, passes::host_columns);
    out_.line("for (Index k = 0; k < count; ++k) a{0}[k] = R{0}::identity();", i);
    return;
  }
  out_.line("{}R{}::Key a{}[{}];", aligned, i, i, passes::host_columns);
  out_.line("{}Index x{}[{}];", aligned, i, passes::host_columns);
  out_.line("for (Index k = 0; k < count; ++k) a{0}[k] = R{0}::last_key();", i);
  // Where nothing precedes the last key, the first place is the answer.
  out_.line(
      "for (Index k = 0; k < count; ++k) "
      "x{0}[k] = walk_begin < walk_end ? walk_begin : R{0}::identity().index;",
      i);
}

/// The states of column k, or what a call of the walk passes for them.
std::string HostPrinter::column_states(const char* format_of_state,
                                       const char* format_of_key) const {
  std::string text;
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    text += fmt::format(
        fmt::runtime(finds_place(plan_.reductions[i]) ? format_of_key : format_of_state), i);
  }
  return text;
}

/// Element k of row r, whose states come by reference.
void HostPrinter::column_walk(const std::vector<int>& roots) {
  const std::string states = column_states(", R{0}::State& b{0}", ", R{0}::Key& b{0}, Index& y{0}");
  out_.open("const auto visit = [&](Index r, Index k{}) __attribute__((always_inline))", states);
  out_.line("const Index {} = column + k;", body_.loop_variable(plan_.outer.back().atom));
  body_.decode(plan_.inner, "r");
  declare_all(body_.needed_for(roots, false));
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const int value = plan_.reductions[i].value;
    if (finds_place(plan_.reductions[i])) {
      out_.line("const R{0}::Key u{0} = R{0}::key(v{1});", i, value);
      out_.line("y{0} = R{0}::precedes(u{0}, b{0}) ? r : y{0};", i);
      out_.line("b{0} = R{0}::precedes(u{0}, b{0}) ? u{0} : b{0};", i);
    } else {
      out_.line("b{0} = R{0}::combine(b{0}, R{0}::lift(v{1}, r));", i, value);
    }
  }
  for (const Store& one : plan_.stores) {
    if (one.element) store(one);
  }
  out_.close();
  out_.line(";");
  const std::string in_place = column_states(", a{0}[k]", ", a{0}[k], x{0}[k]");
  out_.line("Index r = walk_begin;");
  // Several rows at once, so that states are loaded and stored less often. GCC 12 makes no vectors
  // of that where keys and places differ in width.
  constexpr int rows_at_once = 4;
  constexpr std::size_t most_instructions = 12;
  if (plan_.body.size() <= most_instructions &&
      std::ranges::none_of(plan_.reductions, finds_place)) {
    out_.open("for (; r + {0} <= walk_end; r += {0})", rows_at_once);
    out_.open("for (Index k = 0; k < count; ++k)");
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i)
      out_.line("R{0}::State b{0} = a{0}[k];", i);
    for (int row = 0; row < rows_at_once; ++row)
      out_.line("visit(r + {}, k{});", row, column_states(", b{0}", ""));
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) out_.line("a{0}[k] = b{0};", i);
    out_.close();
    out_.close();
  }
  out_.open("for (; r < walk_end; ++r)");
  out_.line("for (Index k = 0; k < count; ++k) visit(r, k{});", in_place);
  out_.close();
}

void HostPrinter::columns() {
  const Loop& last = plan_.outer.back();
  const std::vector<Loop> rest(plan_.outer.begin(), plan_.outer.end() - 1);
  const std::string extent = body_.extent(last.extent), variable = body_.loop_variable(last.atom);
  const std::int64_t width = passes::host_columns;
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.line("const Index column_blocks = (Index({}) + {}) / {};", extent, width - 1, width);
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  out_.line("const Index column = unit % column_blocks * {}, outer = unit / column_blocks;", width);
  const std::string batches = body_.extent(passes::iterations(rest));
  out_.line("const Index batch = outer % ({0}), part = outer / ({0});", batches);
  out_.line("const Index count = {0} - column < {1} ? {0} - column : {1};", extent, width);
  body_.decode(rest, "batch");
  split_range("part");
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) begin_columns(static_cast<int>(i));
  std::vector<int> walked, finished;
  for (const Reduction& reduction : plan_.reductions) walked.push_back(reduction.value);
  for (const Store& one : plan_.stores) (one.element ? walked : finished).push_back(one.value);
  column_walk(walked);
  out_.open("for (Index k = 0; k < count; ++k)");
  out_.line("const Index {} = column + k;", variable);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const std::string state = finds_place(plan_.reductions[i])
                                  ? fmt::format("{{a{0}[k], x{0}[k]}}", i)
                                  : fmt::format("a{}[k]", i);
    out_.line("const R{0}::State t{0} = {1};", i, state);
    if (plan_.split > 1) {
      out_.line("p{}[part * rows + batch * ({}) + {}] = t{};", plan_.reductions[i].partials, extent,
                variable, i);
    }
  }
  declare_all(body_.needed_for(finished, false));
  for (const Store& one : plan_.stores) {
    if (!one.element) store(one);
  }
  out_.close();
  out_.close();
  out_.line("(void)rows;");
}

}  // namespace heddle::codegen
