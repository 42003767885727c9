#include <algorithm>
#include <iterator>

#include "codegen/host/printer.h"
#include "ir/types/scalar.h"
#include "passes/plan/analyze.h"
#include "passes/plan/details.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::HostPass;
using passes::Loop;
using passes::Reduction;
using passes::Store;

/// Keys and indices are in separate arrays, so that the compiler can vectorise both.
void HostPrinter::begin_columns(int i) {
  const std::int64_t width = passes::host_columns(plan_);
  if (!passes::finds_index_by_key(plan_.reductions[i])) {
    out_.line("{}R{}::State a{}[{}];", aligned, i, i, width);
    out_.line("for (Index k = 0; k < count; ++k) a{0}[k] = R{0}::identity();", i);
    return;
  }
  out_.line("{}R{}::Key a{}[{}];", aligned, i, i, width);
  out_.line("{}Index x{}[{}];", aligned, i, width);
  out_.line("for (Index k = 0; k < count; ++k) a{0}[k] = R{0}::last_key();", i);
  // If no key precedes the last key, the result is the first index.
  out_.line(
      "for (Index k = 0; k < count; ++k) "
      "x{0}[k] = walk_begin < walk_end ? walk_begin : R{0}::identity().index;",
      i);
}

/// The states of column k as text: arguments of a call of `visit`, or its parameters.
std::string HostPrinter::column_states(const std::vector<int>& reductions,
                                       const char* format_of_state,
                                       const char* format_of_key) const {
  std::string text;
  for (const int i : reductions) {
    text +=
        fmt::format(fmt::runtime(passes::finds_index_by_key(plan_.reductions[i]) ? format_of_key
                                                                                 : format_of_state),
                    i);
  }
  return text;
}

/// Prints `row_at`, which computes what all elements of row r share, and returns a function that
/// processes element k. States are passed by reference. The compiler would not move the branches of
/// a gathered row's position out of the loop over k.
void HostPrinter::column_visit(const HostPass& pass) {
  const std::vector<int>& reductions = pass.reductions;
  const std::string states =
      column_states(reductions, ", R{0}::State& b{0}", ", R{0}::Key& b{0}, Index& y{0}");
  const std::vector<bool> varies = passes::varying_along(plan_, plan_.outer.back());
  std::vector<int> elements = body_.needed_for(roots_of(pass), false), shared;
  std::ranges::copy_if(elements, std::back_inserter(shared), [&](int i) { return !varies[i]; });
  std::erase_if(elements, [&](int i) { return !varies[i]; });
  out_.open("const auto row_at = [&](Index r) __attribute__((always_inline))");
  body_.decode(plan_.inner, "r");
  declare_all(shared);
  out_.open("return [=](Index k{}) __attribute__((always_inline))", states);
  out_.line("const Index {} = column + k;", body_.loop_variable(plan_.outer.back().atom));
  declare_all(elements);
  for (const int i : reductions) {
    const int value = plan_.reductions[i].value;
    if (passes::finds_index_by_key(plan_.reductions[i])) {
      out_.line("const R{0}::Key u{0} = R{0}::key(v{1});", i, value);
      out_.line("y{0} = R{0}::precedes(u{0}, b{0}) ? r : y{0};", i);
      out_.line("b{0} = R{0}::precedes(u{0}, b{0}) ? u{0} : b{0};", i);
    } else {
      out_.line("b{0} = R{0}::combine(b{0}, R{0}::lift(v{1}, r));", i, value);
    }
  }
  store_all(pass);
  out_.close();
  out_.line(";");
  out_.close();
  out_.line(";");
}

/// Processes rows r, r + step ... before `stop`, several at a time, so that states are loaded and
/// stored less often. With `leaves`, the first rows initialise the states of reductions with a
/// fixed order.
void HostPrinter::column_rows(const HostPass& pass, const char* step, const char* stop,
                              bool leaves) {
  const std::vector<int>& reductions = pass.reductions;
  const int at_once = pass.rows_at_once;
  const auto several = [&](bool first) {
    for (int row = 0; row < at_once; ++row)
      out_.line("const auto row{0} = row_at(r + {0} * {1});", row, step);
    out_.open("for (Index k = 0; k < count; ++k)");
    for (const int i : reductions) {
      const bool begins = first && passes::has_order(plan_.reductions[i]);
      out_.line("R{0}::State b{0} = {1};", i,
                begins ? fmt::format("R{}::identity()", i) : fmt::format("a{}[k]", i));
    }
    for (int row = 0; row < at_once; ++row)
      out_.line("row{}(k{});", row, column_states(reductions, ", b{0}", ""));
    for (const int i : reductions) out_.line("a{0}[k] = b{0};", i);
    out_.close();
  };
  if (leaves) {
    if (at_once > 1) {
      out_.open("if (r + {} * {} < {})", at_once - 1, step, stop);
      several(true);
      out_.line("r += {} * {};", at_once, step);
      out_.close();
      out_.open("else");
    } else {
      out_.open_block();
    }
    for (const int i : reductions) {
      if (passes::has_order(plan_.reductions[i]))
        out_.line("for (Index k = 0; k < count; ++k) a{0}[k] = R{0}::identity();", i);
    }
    out_.close();
  }
  if (at_once > 1) {
    out_.open("for (; r + {0} * {1} < {2}; r += {3} * {1})", at_once - 1, step, stop, at_once);
    several(false);
    out_.close();
  }
  out_.open("for (; r < {}; r += {})", stop, step);
  out_.line("const auto one = row_at(r);");
  out_.line("for (Index k = 0; k < count; ++k) one(k{});",
            column_states(reductions, ", a{0}[k]", ", a{0}[k], x{0}[k]"));
  out_.close();
}

void HostPrinter::begin_leaves(const std::vector<int>& reductions) {
  for (const int i : reductions) {
    if (passes::has_order(plan_.reductions[i])) out_.line("R{0}::State* a{0} = c{0}.leaf();", i);
  }
}

void HostPrinter::add_leaves(const std::vector<int>& reductions) {
  for (const int i : reductions) {
    if (passes::has_order(plan_.reductions[i]))
      out_.line("c{}.add_leaf(static_cast<int>(count));", i);
  }
}

/// One pass over the rows in sequence, split into runs if the order of columns requires it.
void HostPrinter::column_pass(const HostPass& pass) {
  const std::vector<int>& reductions = pass.reductions;
  const bool in_runs = std::ranges::any_of(
      reductions, [&](int i) { return passes::has_order(plan_.reductions[i]); });
  out_.open_block();
  column_visit(pass);
  if (!in_runs) {
    out_.line("Index r = walk_begin;");
    column_rows(pass, "1", "walk_end", false);
    out_.close();
    return;
  }
  out_.line("const int run_length = {};", run_length());
  open_blocks("run_length");
  begin_leaves(reductions);
  out_.line("Index r = block;");
  column_rows(pass, "1", "block_end", true);
  add_leaves(reductions);
  out_.close();
  out_.close();
}

/// One pass over the rows in the order of rows. Within a block, each lane processes every n-th row.
void HostPrinter::column_lanes(const HostPass& pass) {
  const auto bytes = static_cast<int>(passes::state_bytes(plan_.reductions[pass.reductions[0]]));
  out_.open_block();
  column_visit(pass);
  out_.line("const int lanes = op::reduce::lanes_of({}, {});",
            body_.extent(passes::iterations(plan_.inner)), bytes);
  open_blocks(fmt::to_string(heddle_scalar::reduce::block_length(bytes)));
  out_.open("for (int turn = 0; turn < lanes; ++turn)");
  begin_leaves(pass.reductions);
  out_.line("Index r = block + op::reduce::lane_at(turn, lanes);");
  column_rows(pass, "lanes", "block_end", true);
  add_leaves(pass.reductions);
  out_.close();
  out_.close();
  out_.close();
}

/// All passes over the rows. The states of column k end up in a<i>[k].
void HostPrinter::column_passes() {
  for (std::size_t k = 0; k < plan_.reductions.size(); ++k) {
    const Reduction& reduction = plan_.reductions[k];
    const int i = static_cast<int>(k);
    if (!passes::has_order(reduction)) {
      begin_columns(i);
      continue;
    }
    body_.need("reduce_tree");
    out_.line("op::reduce::Tree<R{0}, {1}, {2}> c{0};", i, passes::host_columns(plan_),
              passes::host_states_a_column(plan_, reduction));
  }
  for (const HostPass& pass : plan_.host_passes) {
    const bool along_rows =
        passes::order_of(plan_.reductions[pass.reductions.at(0)]) == passes::CombineOrder::rows;
    along_rows ? column_lanes(pass) : column_pass(pass);
  }
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (passes::has_order(plan_.reductions[i]))
      out_.line("const R{0}::State* a{0} = c{0}.totals(static_cast<int>(count));", i);
  }
}

void HostPrinter::columns() {
  const Loop& last = plan_.outer.back();
  const std::vector<Loop> rest(plan_.outer.begin(), plan_.outer.end() - 1);
  const std::string extent = body_.extent(last.extent), variable = body_.loop_variable(last.atom);
  const std::int64_t width = passes::host_columns(plan_);
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.line("const Index column_blocks = (Index({}) + {}) / {};", extent, width - 1, width);
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  out_.line("const Index column = unit % column_blocks * {}, outer = unit / column_blocks;", width);
  const std::string batches = body_.extent(passes::iterations(rest));
  out_.line("const Index batch = outer % ({0}), part = outer / ({0});", batches);
  out_.line("const Index count = {0} - column < {1} ? {0} - column : {1};", extent, width);
  body_.decode(rest, "batch");
  if (const Reduction* const segment = passes::segmented(plan_)) {
    for (const int i : body_.needed_for({segment->first, segment->last}, false)) {
      declare_all({i});
      body_.declared[i] = true;
    }
  }
  split_range("part");
  column_passes();
  std::vector<int> finished;
  for (const Store& one : plan_.stores) {
    if (!one.element) finished.push_back(one.value);
  }
  out_.open("for (Index k = 0; k < count; ++k)");
  out_.line("const Index {} = column + k;", variable);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const std::string state = passes::finds_index_by_key(plan_.reductions[i])
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
