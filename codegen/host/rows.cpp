#include <algorithm>

#include "codegen/host/printer.h"
#include "ir/types/scalar.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::CombineOrder;
using passes::Reduction;
using passes::Store;

void HostPrinter::split_range(const char* part) {
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

void HostPrinter::chunk_of_unknown(const std::string& walk, const std::string& most_parts) {
  body_.need("reduce_tree");
  out_.line("const Index chunk = op::reduce::part_length({}, {}, {});", walk, plan_.least_part,
            most_parts);
}

void HostPrinter::rows() {
  out_.line("const Index rows = {};", body_.extent(passes::iterations(plan_.outer)));
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  if (plan_.split > 1) {
    out_.line("const Index row = unit % rows, part = unit / rows;");
  } else {
    out_.line("const Index row = unit;");
  }
  out_.line("(void)row;");
  body_.decode(plan_.outer, "row");
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

/// Reductions of a stage that share one pass over the row.
std::vector<std::vector<int>> HostPrinter::row_passes(int stage) const {
  // Along rows with small states, with larger ones; along columns; complex places.
  std::vector<std::vector<int>> walks(4);
  std::vector<int> unordered;
  for (std::size_t k = 0; k < plan_.reductions.size(); ++k) {
    const Reduction& reduction = plan_.reductions[k];
    if (reduction.stage != stage || finds_place(reduction)) continue;
    const int i = static_cast<int>(k);
    const CombineOrder order = passes::order_of(reduction);
    if (order == CombineOrder::columns) {
      walks[2].push_back(i);
    } else if (order == CombineOrder::rows) {
      walks[passes::state_bytes(reduction) <= 4 ? 0 : 1].push_back(i);
    } else {
      (ir::finds_place(reduction.op) ? walks[3] : unordered).push_back(i);
    }
  }
  std::vector<int>& widest = walks[0].empty() ? walks[1] : walks[0];
  widest.insert(widest.end(), unordered.begin(), unordered.end());
  std::erase_if(walks, [](const std::vector<int>& walk) { return walk.empty(); });
  return walks;
}

void HostPrinter::row_stage(int stage) {
  if (std::ranges::any_of(plan_.reductions, [](const Reduction& one) { return one.value < 0; }))
    return row_parts();
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const Reduction& reduction = plan_.reductions[i];
    if (reduction.stage == stage && finds_place(reduction)) row_extreme(static_cast<int>(i));
  }
  std::vector<const Store*> stores;
  for (const Store& one : plan_.stores) {
    if (one.element && one.stage == stage) stores.push_back(&one);
  }
  std::vector<std::vector<int>> walks = row_passes(stage);
  if (walks.empty() && !stores.empty()) walks.emplace_back();
  for (const std::vector<int>& walk : walks) {
    if (!walk.empty() && passes::order_of(plan_.reductions[walk[0]]) == CombineOrder::columns) {
      row_runs(walk, stores);
    } else {
      row_lanes(walk, stores);
    }
    stores.clear();
  }
}

/// Combines the states that parts of the row have left.
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
  body_.need("first_extreme");
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
  out_.line("t{0} = op::reduce::first_extreme<R{0}, {1}>(t{0}, first, stop, run, value);",
            reduction, plain);
  out_.close();
}

/// How a row is cut for the reductions of one pass over it.
HostPrinter::RowLanes HostPrinter::lanes_for(const std::vector<int>& reductions) const {
  namespace reduce = heddle_scalar::reduce;
  RowLanes lanes;
  int unordered = 64;
  for (const int i : reductions) {
    const Reduction& reduction = plan_.reductions[i];
    const auto bytes = static_cast<int>(passes::state_bytes(reduction));
    if (passes::has_order(reduction)) lanes.state_bytes = bytes;
    // Independent states, so that the compiler can combine a vector of them at once.
    if (bytes > 1) unordered = std::min(unordered, 32);
    if (ir::finds_place(reduction.op)) unordered = 4;
  }
  lanes.count = unordered;
  if (!lanes.ordered()) return lanes;
  const passes::Dim row = passes::iterations(plan_.inner);
  lanes.in_blocks = !row.is_constant() || row.constant() > reduce::block_length(lanes.state_bytes);
  lanes.count = row.is_constant() ? reduce::lanes_of(row.constant(), lanes.state_bytes) : 0;
  return lanes;
}

/// One pass over [first, stop) of a run.
void HostPrinter::lanes_of_run(const std::vector<int>& active, const RowLanes& lanes,
                               const char* first, const char* stop,
                               const std::function<void()>& one_element) {
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
  if (active.empty() || lanes.count == 1) {
    out_.line("for (; at_lane < {}; ++at_lane) visit(at_lane{});", stop, states_at("0"));
    return;
  }
  const std::string width = lanes.count > 0 ? fmt::to_string(lanes.count) : "lanes.count";
  const passes::Loop& last = plan_.inner.back();
  if (lanes.ordered() && plan_.inner.size() > 1 &&
      !(lanes.count > 0 && last.extent.divisible_by(lanes.count))) {
    // Up to where the first lane's turn is.
    out_.open("for (; at_lane < {} && (run + at_lane) % {} != 0; ++at_lane)", stop, width);
    out_.line("visit(at_lane{});", states_at(fmt::format("(run + at_lane) % {}", width)));
    out_.close();
  }
  // GCC 12 unrolls a loop over 16 lanes before it looks for vectors, and finds fewer in what is
  // left. Of more lanes it keeps the states in memory where it knows of an odd number of steps.
  constexpr int unrolled = 16;
  out_.line("Index lanes_stop = {};", stop);
  if (lanes.count != unrolled) out_.line("asm(\"\" : \"+r\"(lanes_stop));");
  out_.open("for (; at_lane + {0} <= lanes_stop; at_lane += {0})", width);
  if (lanes.count == unrolled || lanes.count == 0) out_.directive("#pragma GCC unroll 1");
  out_.line("for (int k = 0; k < {}; ++k) visit(at_lane + k{});", width, states_at("k"));
  out_.close();
  if (lanes.ordered()) {
    out_.line("for (Index k = 0; at_lane + k < {}; ++k) visit(at_lane + k{});", stop,
              states_at("k"));
  } else {
    out_.line("for (; at_lane < {}; ++at_lane) visit(at_lane{});", stop, states_at("0"));
  }
}

/// One pass over a row, for several reductions and what the stage stores of its elements.
void HostPrinter::row_lanes(const std::vector<int>& active,
                            const std::vector<const Store*>& stores) {
  const RowLanes lanes = lanes_for(active);
  for (const int i : active) out_.line("R{0}::State t{0};", i);
  out_.open_block();
  if (lanes.count > 0) {
    lanes_of_row(active, stores, lanes);
    out_.close();
    return;
  }
  out_.open("const auto walk = [&](auto lanes) __attribute__((always_inline))");
  lanes_of_row(active, stores, lanes);
  out_.close();
  out_.line(";");
  out_.line("switch (op::reduce::lanes_of({}, {})) {{",
            body_.extent(passes::iterations(plan_.inner)), lanes.state_bytes);
  for (const int count : {1, 16, 32, 64}) {
    if (count <= 32 || lanes.state_bytes <= 4)
      out_.line("case {0}: walk(op::reduce::Lanes<{0}>()); break;", count);
  }
  out_.line("}}");
  out_.close();
}

/// A loop over what the tree has leaves for: [block, block_end).
void HostPrinter::open_blocks(const std::string& length) {
  out_.open("for (Index block = walk_begin; block < walk_end; block += {})", length);
  out_.line("const Index block_end = walk_end - block < {0} ? walk_end : block + {0};", length);
}

/// One pass over a row in the order of columns.
void HostPrinter::row_runs(const std::vector<int>& active,
                           const std::vector<const Store*>& stores) {
  body_.need("reduce_tree");
  std::vector<int> roots;
  for (const int i : active) {
    roots.push_back(plan_.reductions[i].value);
    out_.line("op::reduce::Tree<R{0}> c{0};", i);
  }
  for (const Store* one : stores) roots.push_back(one->value);
  out_.open_block();
  out_.line("const int run_length = op::reduce::run_length({});",
            body_.extent(passes::iterations(plan_.inner)));
  open_blocks("run_length");
  for (const int i : active) out_.line("R{0}::State a{0} = R{0}::identity();", i);
  open_runs(plan_.inner, "block", "block_end");
  const std::vector<int> instructions = body_.needed_for(roots, true);
  const std::string variable = body_.loop_variable(plan_.inner.back().atom);
  strips(instructions, stores, plan_.inner.back(), [&](const char* first, const char* stop) {
    out_.open("for (Index {0} = {1}; {0} < {2}; ++{0})", variable, first, stop);
    declare_all(instructions);
    for (const Store* one : stores) store(*one);
    for (const int i : active) {
      out_.line("a{0} = R{0}::combine(a{0}, R{0}::lift(v{1}, run + {2}));", i,
                plan_.reductions[i].value, variable);
    }
    out_.close();
  });
  out_.line("(void)run;");
  out_.close();
  for (const int i : active) out_.line("c{0}.add(a{0});", i);
  out_.close();
  out_.close();
  for (const int i : active) out_.line("const R{0}::State t{0} = c{0}.total();", i);
}

void HostPrinter::lanes_of_row(const std::vector<int>& active,
                               const std::vector<const Store*>& stores, const RowLanes& lanes) {
  const std::string width = lanes.count > 0 ? fmt::to_string(lanes.count) : "lanes.count";
  const auto in_blocks = [&](int i) {
    return lanes.in_blocks && passes::has_order(plan_.reductions[i]);
  };
  std::vector<int> roots;
  for (const int i : active) {
    roots.push_back(plan_.reductions[i].value);
    out_.line("{}R{}::State a{}[{}];", aligned, i, i, width);
    if (in_blocks(i)) out_.line("op::reduce::Tree<R{0}> c{0};", i);
  }
  for (const Store* one : stores) roots.push_back(one->value);
  const auto begin_lanes = [&](bool of_blocks) {
    for (const int i : active) {
      if (in_blocks(i) == of_blocks)
        out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = R{0}::identity();", i, width);
    }
  };
  begin_lanes(false);
  body_.need("reduce_tree");
  if (lanes.in_blocks) {
    open_blocks(fmt::to_string(heddle_scalar::reduce::block_length(lanes.state_bytes)));
    begin_lanes(true);
  }
  open_runs(plan_.inner, lanes.in_blocks ? "block" : "walk_begin",
            lanes.in_blocks ? "block_end" : "walk_end");
  const std::vector<int> instructions = body_.needed_for(roots, true);
  strips(instructions, stores, plan_.inner.back(), [&](const char* first, const char* stop) {
    const auto visit = [&] {
      declare_all(instructions);
      for (const Store* one : stores) store(*one);
    };
    lanes_of_run(active, lanes, first, stop, visit);
  });
  out_.line("(void)run;");
  out_.close();
  if (lanes.in_blocks) {
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
