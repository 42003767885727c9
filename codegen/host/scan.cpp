#include "codegen/host/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::Loop;
using passes::Reduction;
using passes::Store;

namespace {

constexpr int run = 64;  // number of elements of a row that are scanned at a time

}  // namespace

/// Prints three loops: compute the elements, scan them, use the results. The compiler can vectorise
/// the first and the last. `count` is the number of elements.
void HostPrinter::scan_run(const std::string& variable, const std::string& first,
                           const std::function<void(std::size_t)>& scan) {
  std::vector<int> roots, results;
  for (const Reduction& reduction : plan_.reductions) {
    for (const int needed : needs_of(reduction)) roots.push_back(needed);
  }
  for (const Store& one : plan_.stores) {
    if (one.element) results.push_back(one.value);
  }
  out_.open("for (Index k = 0; k < count; ++k)");
  out_.line("const Index {} = {} + k;", variable, first);
  declare_all(body_.needed_for(roots, false));
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i)
    out_.line("a{}[k] = {};", i, body_.lift(i, "0"));
  out_.close();
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) scan(i);
  if (results.empty()) return;
  out_.open("for (Index k = 0; k < count; ++k)");
  out_.line("const Index {} = {} + k;", variable, first);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i)
    out_.line("const R{0}::State c{0} = a{0}[k];", i);
  declare_all(body_.needed_for(results, false));
  for (const Store& one : plan_.stores) {
    if (one.element) store(one);
  }
  out_.close();
}

/// Stores values that do not depend on the scanned axis. The first part stores them.
void HostPrinter::scan_row_stores() {
  std::vector<int> roots;
  for (const Store& one : plan_.stores) {
    if (!one.element) roots.push_back(one.value);
  }
  if (roots.empty()) return;
  const bool in_columns = plan_.mapping == passes::Mapping::scan_columns;
  out_.open("for (Index k = 0; part == 0 && k < {}; ++k)", in_columns ? "count" : "1");
  if (in_columns)
    out_.line("const Index {} = column + k;", body_.loop_variable(plan_.outer.back().atom));
  declare_all(body_.needed_for(roots, false));
  for (const Store& one : plan_.stores) {
    if (!one.element) store(one);
  }
  out_.close();
}

/// Whether this is the first of two kernels, which stores the total of each part: the last value of
/// its scan.
bool HostPrinter::leaves_parts() const {
  return plan_.split > 1 && plan_.operands[plan_.reductions.front().partials].written;
}

/// Initialises a part of a row with the totals of the earlier parts.
void HostPrinter::scan_earlier_parts(const std::string& element, const std::string& count) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.split == 1 || leaves_parts()) break;
    out_.open("for (Index earlier = 0; earlier < part; ++earlier)");
    out_.line("for (Index k = 0; k < {0}; ++k) a{1}[k] = p{2}[earlier * rows + {3}];", count, i,
              plan_.reductions[i].partials, element);
    out_.line("so_far{0}.add(a{0}, {1});", i, count);
    out_.close();
  }
}

void HostPrinter::scan_rows() {
  body_.need("scan_running");
  const Loop& last = plan_.inner.back();
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  out_.line("const Index row = unit % rows, part = unit / rows;");
  body_.decode(plan_.outer, "row");
  split_range("part");
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    out_.line("op::scan::Running<R{0}> so_far{0};", i);
    out_.line("{2}R{0}::State a{0}[{1}];", i, run, aligned);
    if (leaves_parts()) out_.line("a{0}[{1}] = R{0}::identity();", i, run - 1);
  }
  scan_row_stores();
  scan_earlier_parts("row", "1");
  out_.open("for (Index at = walk_begin; at < walk_end; at += {})", run);
  out_.line("const Index count = walk_end - at < {0} ? walk_end - at : {0};", run);
  scan_run(body_.loop_variable(last.atom), "at", [&](std::size_t i) {
    out_.line("for (Index k = count; k < {1}; ++k) a{0}[k] = R{0}::identity();", i, run);
    out_.line("so_far{0}.add_run(a{0});", i);
  });
  out_.close();
  for (std::size_t i = 0; leaves_parts() && i < plan_.reductions.size(); ++i) {
    out_.line("p{}[part * rows + row] = a{}[{}];", plan_.reductions[i].partials, i, run - 1);
  }
  out_.line("(void)part;");
  out_.close();
}

void HostPrinter::scan_columns() {
  body_.need("scan_running");
  const Loop& last = plan_.outer.back();
  const std::vector<Loop> rest(plan_.outer.begin(), plan_.outer.end() - 1);
  const std::string extent = body_.extent(last.extent);
  const std::int64_t width = passes::host_scan_columns;
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.line("const Index column_blocks = (Index({}) + {}) / {};", extent, width - 1, width);
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  out_.line("const Index column = unit % column_blocks * {}, outer = unit / column_blocks;", width);
  const std::string batches = body_.extent(passes::iterations(rest));
  out_.line("const Index batch = outer % ({0}), part = outer / ({0});", batches);
  out_.line("const Index count = {0} - column < {1} ? {0} - column : {1};", extent, width);
  body_.decode(rest, "batch");
  split_range("part");
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    out_.line("op::scan::Running<R{0}, {1}> so_far{0};", i, width);
    out_.line("{2}R{0}::State a{0}[{1}];", i, width, aligned);
    if (leaves_parts())
      out_.line("for (Index k = 0; k < count; ++k) a{0}[k] = R{0}::identity();", i);
  }
  scan_row_stores();
  const std::string state = fmt::format("batch * ({}) + column + k", extent);
  scan_earlier_parts(state, "count");
  out_.open("for (Index r = walk_begin; r < walk_end; ++r)");
  body_.decode(plan_.inner, "r");
  scan_run(body_.loop_variable(last.atom), "column",
           [&](std::size_t i) { out_.line("so_far{0}.add(a{0}, static_cast<int>(count));", i); });
  out_.close();
  for (std::size_t i = 0; leaves_parts() && i < plan_.reductions.size(); ++i) {
    out_.line("for (Index k = 0; k < count; ++k) p{}[part * rows + {}] = a{}[k];",
              plan_.reductions[i].partials, state, i);
  }
  out_.line("(void)batch;");
  out_.line("(void)part;");
  out_.close();
  out_.line("(void)rows;");
}

}  // namespace heddle::codegen
