#include <algorithm>

#include "codegen/host/printer.h"
#include "ir/types/scalar.h"
#include "passes/plan/analyze.h"
#include "passes/plan/details.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::CombineOrder;
using passes::HostPass;
using passes::Mapping;
using passes::Reduction;
using passes::Store;

void HostPrinter::split_range(const char* part) {
  if (const Reduction* const segment = passes::segmented(plan_)) {
    const bool follows = plan_.mapping == Mapping::rows && passes::follows_segment(plan_);
    out_.line("const Index walk_begin = {}, walk_end = static_cast<Index>(v{});",
              follows ? "next_begin" : fmt::format("static_cast<Index>(v{})", segment->first),
              segment->last);
    if (follows) out_.line("next_begin = walk_end;");
    return;
  }
  const std::string inner = body_.extent(passes::iterations(plan_.inner));
  if (plan_.parts_of) {
    chunk_of_unknown(body_.extent(*plan_.parts_of), inner);
    out_.line("const Index walk_begin = 0, walk_end = ({} + chunk - 1) / chunk;",
              body_.extent(*plan_.parts_of));
    return;
  }
  if (plan_.split == 1) {
    out_.line("const Index walk_begin = 0, walk_end = {};", inner);
    return;
  }
  const bool scans = plan_.reductions.front().scan;
  if (plan_.least_part > 0) {
    chunk_of_unknown(inner, fmt::to_string(plan_.split));
  } else {
    out_.line("const Index chunk = {};",
              scans ? fmt::format("(Index({}) + {}) / {}", inner, plan_.split - 1, plan_.split)
                    : fmt::to_string(passes::host_part_length(plan_)));
  }
  out_.line("const Index walk_begin = {} * chunk;", part);
  out_.line("const Index walk_end = walk_begin + chunk < {0} ? walk_begin + chunk : {0};", inner);
}

/// The number of elements that are combined in sequence, in the order of columns.
std::string HostPrinter::run_length() const {
  if (passes::segmented(plan_) != nullptr) return "op::reduce::segment_run_length";
  return fmt::format("op::reduce::run_length({})", body_.extent(passes::iterations(plan_.inner)));
}

void HostPrinter::chunk_of_unknown(const std::string& walk, const std::string& most_parts) {
  body_.need("reduce_tree");
  out_.line("const Index chunk = op::reduce::part_length({}, {}, {});", walk, plan_.least_part,
            most_parts);
}

/// Declares `next_begin`, where the next segment begins.
void HostPrinter::first_segment() {
  const int first = passes::segmented(plan_)->first;
  out_.line("Index next_begin = 0;");
  out_.open("if (begin < end)");
  out_.line("const Index row = begin;");
  body_.decode(plan_.outer, "row");
  declare_all(body_.needed_for({first}, false));
  out_.line("next_begin = static_cast<Index>(v{});", first);
  out_.close();
}

void HostPrinter::rows() {
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  if (passes::follows_segment(plan_)) first_segment();
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  if (plan_.split > 1) {
    out_.line("const Index row = unit % rows, part = unit / rows;");
  } else {
    out_.line("const Index row = unit;");
  }
  out_.line("(void)row;");
  body_.decode(plan_.outer, "row");
  row_values(0);
  split_range("part");
  for (int stage = 0; stage < plan_.stages; ++stage) {
    row_values(stage);
    row_stage(stage);
  }
  row_values(plan_.stages);
  row_results();
  out_.close();
  out_.line("(void)rows;");
}

void HostPrinter::row_values(int stage) {
  for (const int i : body_.row_values(stage)) {
    declare_all({i});
    body_.declared[i] = true;
  }
}

void HostPrinter::row_stage(int stage) {
  if (std::ranges::any_of(plan_.reductions, [](const Reduction& one) { return one.value < 0; }))
    return row_parts();
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const Reduction& reduction = plan_.reductions[i];
    if (reduction.stage == stage && passes::finds_index_by_key(reduction))
      row_extreme(static_cast<int>(i));
  }
  for (const HostPass& pass : plan_.host_passes) {
    if (pass.stage != stage) continue;
    const bool along_columns =
        !pass.reductions.empty() &&
        passes::order_of(plan_.reductions[pass.reductions[0]]) == CombineOrder::columns;
    along_columns ? row_runs(pass) : row_lanes(pass);
  }
}

/// Combines the states of the row's parts.
void HostPrinter::row_parts() {
  body_.need("reduce_tree");
  const auto count = plan_.reductions.size();
  for (std::size_t i = 0; i < count; ++i) out_.line("op::reduce::Tree<R{0}> c{0};", i);
  out_.open("for (Index r = walk_begin; r < walk_end; ++r)");
  for (std::size_t i = 0; i < count; ++i)
    out_.line("c{}.add(p{}[r * rows + row]);", i, plan_.reductions[i].partials);
  out_.close();
  for (std::size_t i = 0; i < count; ++i) out_.line("const R{0}::State t{0} = c{0}.total();", i);
}

void HostPrinter::row_extreme(int reduction) {
  body_.need("first_extremum");
  const int value = plan_.reductions[reduction].value;
  out_.line("R{0}::State t{0} = R{0}::identity();", reduction);
  open_runs(plan_.inner, "walk_begin", "walk_end");
  out_.open("const auto value = [&](Index {}) __attribute__((always_inline))",
            body_.loop_variable(plan_.inner.back().atom));
  declare_all(body_.needed_for({value}, true));
  out_.line("return v{};", value);
  out_.close();
  out_.line(";");
  const passes::Instruction& instruction = plan_.body[value];
  const bool plain = instruction.kind == passes::Instruction::Kind::load &&
                     instruction.dtype != DType::f16 && instruction.dtype != DType::bf16;
  out_.line("t{0} = op::reduce::first_extremum<R{0}, {1}>(t{0}, first, stop, run, value);",
            reduction, plain);
  out_.close();
}

/// One pass over [first, stop) of a run.
void HostPrinter::lanes_of_run(const HostPass& pass, const char* first, const char* stop,
                               const std::function<void()>& one_element) {
  const std::vector<int>& active = pass.reductions;
  const bool ordered = pass.state_bytes > 0;
  const std::string variable = body_.loop_variable(plan_.inner.back().atom);
  const auto states_at = [&](const std::string& index) {
    std::string text;
    for (const int i : active) text += fmt::format(", a{}[{}]", i, index);
    return text;
  };
  std::string states;
  for (const int i : active) states += fmt::format(", R{0}::State& b{0}", i);
  out_.open("const auto visit = [&](Index {}{}) __attribute__((always_inline))", variable, states);
  one_element();
  for (const int i : active) {
    out_.line("b{0} = R{0}::combine(b{0}, R{0}::lift(v{1}, run + {2}));", i,
              plan_.reductions[i].value, variable);
  }
  out_.close();
  out_.line(";");
  out_.line("Index at_lane = {};", first);
  if (active.empty() || pass.states == 1) {
    out_.line("for (; at_lane < {}; ++at_lane) visit(at_lane{});", stop, states_at("0"));
    return;
  }
  const std::string width = pass.states > 0 ? fmt::to_string(pass.states) : "lanes.count";
  const passes::Loop& last = plan_.inner.back();
  if (ordered && plan_.inner.size() > 1 &&
      !(pass.states > 0 && last.extent.divisible_by(pass.states))) {
    // Advance to an index that belongs to the first lane.
    out_.open("for (; at_lane < {} && (run + at_lane) % {} != 0; ++at_lane)", stop, width);
    out_.line("visit(at_lane{});", states_at(fmt::format("(run + at_lane) % {}", width)));
    out_.close();
  }
  // With 16 lanes, GCC 12 unrolls the loop before it vectorises, and then vectorises less; so
  // unrolling is disabled. With more lanes, GCC 12 keeps the states in memory if it knows that the
  // number of steps is odd; so the end of the loop is hidden.
  constexpr int unrolled = 16;
  out_.line("Index lanes_stop = {};", stop);
  if (pass.states != unrolled) out_.line("asm(\"\" : \"+r\"(lanes_stop));");
  out_.open("for (; at_lane + {0} <= lanes_stop; at_lane += {0})", width);
  if (pass.states == unrolled || pass.states == 0) out_.directive("#pragma GCC unroll 1");
  out_.line("for (int k = 0; k < {}; ++k) visit(at_lane + k{});", width, states_at("k"));
  out_.close();
  if (ordered) {
    out_.line("for (Index k = 0; at_lane + k < {}; ++k) visit(at_lane + k{});", stop,
              states_at("k"));
  } else {
    out_.line("for (; at_lane < {}; ++at_lane) visit(at_lane{});", stop, states_at("0"));
  }
}

/// One pass over a row, for several reductions and the stage's stores of elements.
void HostPrinter::row_lanes(const HostPass& pass) {
  for (const int i : pass.reductions) out_.line("R{0}::State t{0};", i);
  out_.open_block();
  if (pass.states > 0) {
    lanes_of_row(pass);
    out_.close();
    return;
  }
  out_.open("const auto walk = [&](auto lanes) __attribute__((always_inline))");
  lanes_of_row(pass);
  out_.close();
  out_.line(";");
  out_.line("switch (op::reduce::lanes_of({}, {})) {{",
            body_.extent(passes::iterations(plan_.inner)), pass.state_bytes);
  for (const int count : {1, 16, 32, 64}) {
    if (count <= 32 || pass.state_bytes <= 4)
      out_.line("case {0}: walk(op::reduce::Lanes<{0}>()); break;", count);
  }
  out_.line("}}");
  out_.close();
}

/// Opens a loop over the blocks of elements that form the leaves of the reduction tree: [block,
/// block_end).
void HostPrinter::open_blocks(const std::string& length) {
  out_.open("for (Index block = walk_begin; block < walk_end; block += {})", length);
  out_.line("const Index block_end = walk_end - block < {0} ? walk_end : block + {0};", length);
}

/// Prints `walk`, which combines the elements of one run into the states a<i>.
void HostPrinter::walk_of_run(const HostPass& pass, const std::string& states) {
  const bool segments = passes::segmented(plan_) != nullptr;
  out_.open("const auto walk = [{}](Index block, Index block_end{}) __attribute__((always_inline))",
            segments ? "=" : "&", states);
  for (const int i : pass.reductions) out_.line("a{0} = R{0}::identity();", i);
  open_runs(plan_.inner, "block", "block_end");
  const std::vector<int> instructions = body_.needed_for(roots_of(pass), true);
  const std::string variable = body_.loop_variable(plan_.inner.back().atom);
  strips(pass, plan_.inner.back(), [&](const char* first, const char* stop) {
    out_.open("for (Index {0} = {1}; {0} < {2}; ++{0})", variable, first, stop);
    declare_all(instructions);
    store_all(pass);
    for (const int i : pass.reductions) {
      out_.line("a{0} = R{0}::combine(a{0}, R{0}::lift(v{1}, run + {2}));", i,
                plan_.reductions[i].value, variable);
    }
    out_.close();
  });
  out_.line("(void)run;");
  out_.close();
  out_.close();
  out_.line(";");
}

namespace {

/// `format` for each reduction of a pass, whose number replaces {0}.
std::string for_all(const HostPass& pass, const char* format) {
  std::string all;
  for (const int i : pass.reductions) all += fmt::format(fmt::runtime(format), i);
  return all;
}

}  // namespace

/// Combines the states of a row's runs into the states t<i>.
void HostPrinter::tree_of_runs(const HostPass& pass) {
  for (const int i : pass.reductions) {
    out_.line("R{0}::State a{0};", i);
    out_.line("op::reduce::Tree<R{0}> c{0};", i);
  }
  open_blocks("run_length");
  out_.line("walk(block, block_end{});", for_all(pass, ", a{0}"));
  for (const int i : pass.reductions) out_.line("c{0}.add(a{0});", i);
  out_.close();
  for (const int i : pass.reductions) out_.line("t{0} = c{0}.total();", i);
}

/// One pass over a row in the order of columns.
void HostPrinter::row_runs(const HostPass& pass) {
  body_.need("reduce_tree");
  for (const int i : pass.reductions) out_.line("R{0}::State t{0};", i);
  out_.open_block();
  walk_of_run(pass, for_all(pass, ", R{0}::State& a{0}"));
  out_.line("const int run_length = {};", run_length());
  const bool segments = passes::segmented(plan_) != nullptr;
  out_.open("{}", segments ? "if (__builtin_expect(walk_end - walk_begin <= run_length, 1))"
                           : "if (walk_end - walk_begin <= run_length)");
  out_.line("walk(walk_begin, walk_end{});", for_all(pass, ", t{0}"));
  out_.close();
  out_.open("else");
  if (segments) {
    // A function of its own, so that short segments keep their values in registers.
    out_.open(
        "const auto in_runs = [=](Index walk_begin, Index walk_end{}) "
        "__attribute__((noinline))",
        for_all(pass, ", R{0}::State& t{0}"));
    tree_of_runs(pass);
    out_.close();
    out_.line(";");
    for (const int i : pass.reductions) out_.line("R{0}::State l{0};", i);
    out_.line("in_runs(walk_begin, walk_end{});", for_all(pass, ", l{0}"));
    for (const int i : pass.reductions) out_.line("t{0} = l{0};", i);
  } else {
    tree_of_runs(pass);
  }
  out_.close();
  out_.close();
}

void HostPrinter::lanes_of_row(const HostPass& pass) {
  const std::vector<int>& active = pass.reductions;
  const std::string width = pass.states > 0 ? fmt::to_string(pass.states) : "lanes.count";
  const auto in_blocks = [&](int i) {
    return pass.in_blocks && passes::has_order(plan_.reductions[i]);
  };
  for (const int i : active) {
    out_.line("{}R{}::State a{}[{}];", aligned, i, i, width);
    if (in_blocks(i)) out_.line("op::reduce::Tree<R{0}> c{0};", i);
  }
  const auto begin_lanes = [&](bool of_blocks) {
    for (const int i : active) {
      if (in_blocks(i) == of_blocks)
        out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = R{0}::identity();", i, width);
    }
  };
  begin_lanes(false);
  body_.need("reduce_tree");
  if (pass.in_blocks) {
    open_blocks(fmt::to_string(heddle_scalar::reduce::block_length(pass.state_bytes)));
    begin_lanes(true);
  }
  open_runs(plan_.inner, pass.in_blocks ? "block" : "walk_begin",
            pass.in_blocks ? "block_end" : "walk_end");
  const std::vector<int> instructions = body_.needed_for(roots_of(pass), true);
  strips(pass, plan_.inner.back(), [&](const char* first, const char* stop) {
    lanes_of_run(pass, first, stop, [&] {
      declare_all(instructions);
      store_all(pass);
    });
  });
  out_.line("(void)run;");
  out_.close();
  if (pass.in_blocks) {
    for (const int i : active) {
      if (in_blocks(i))
        out_.line("c{0}.add(op::reduce::combine_lanes<R{0}, {1}>(a{0}));", i, width);
    }
    out_.close();
  }
  for (const int i : active) {
    if (in_blocks(i)) {
      out_.line("t{0} = c{0}.total();", i);
    } else {
      out_.line("t{0} = op::reduce::combine_lanes<R{0}, {1}>(a{0});", i, width);
    }
  }
}

void HostPrinter::row_results() {
  if (plan_.split > 1) {
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      out_.line("p{}[part * rows + row] = t{};", plan_.reductions[i].partials, i);
    }
  }
  for (const Store& one : plan_.stores) {
    if (!one.element) store(one);
  }
}

}  // namespace heddle::codegen
