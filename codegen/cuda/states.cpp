#include "codegen/cuda/printer.h"
#include "passes/plan/long_sum.h"

// The states of a thread's reductions, and the loop over a row's elements that combines them.

namespace heddle::codegen {

using passes::Mapping;

// Whether a thread's pass keeps an index of the kernel's index type instead of a state.
bool CudaPrinter::tracks_index(const passes::Reduction& reduction) {
  return reduction.value >= 0 && ir::finds_index(reduction.op);
}

// One state per vector lane, so that the combinations of a vector are independent of each other.
void CudaPrinter::define_states(int stage, const std::string& first) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    if (reduction.scan || reduction.stage != stage) continue;
    std::string start = fmt::format("a{0}[k] = R{0}::identity()", i);
    if (tracks_index(reduction)) {
      out_.line("op::reduce::Indexed<R{0}::Key, Index> w{0}[{1}];", i, plan_.vector);
      start = fmt::format("w{0}[k] = R{0}::start_pass<Index>({1})", i, first);
    } else {
      out_.line("R{0}::State a{0}[{1}];", i, plan_.vector);
    }
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {}; ++k) {};", plan_.vector, start);
    if (!folds(reduction)) continue;
    body_.need(plan_.folding.compensated ? "fold_sum" : "add_sum");
    if (plan_.mapping == Mapping::rows) {
      out_.line("R{0}::State t{0} = R{0}::identity();", i);
    } else {
      out_.line("R{0}::State total{0}[{1}];", i, plan_.vector);
      out_.directive("#pragma unroll");
      out_.line("for (int k = 0; k < {1}; ++k) total{0}[k] = R{0}::identity();", i, plan_.vector);
    }
  }
}

bool CudaPrinter::folds(const passes::Reduction& reduction) const {
  return plan_.folding.steps > 0 && passes::is_rounded_sum(reduction);
}

bool CudaPrinter::folds(int stage) const {
  return std::ranges::any_of(plan_.reductions, [&](const passes::Reduction& reduction) {
    return reduction.stage == stage && folds(reduction);
  });
}

void CudaPrinter::fold_states(int stage) {
  const char* const text =
      plan_.mapping == Mapping::rows ? "{1}_lanes(t{0}, a{0});" : "{1}_sums(total{0}, a{0});";
  const char* const how = plan_.folding.compensated ? "fold" : "add";
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.reductions[i].stage == stage && folds(plan_.reductions[i]))
      out_.line(fmt::runtime(text), i, how);
  }
}

// Opens the loop over r, starting at `first`. If sums are folded, opens an outer loop over runs of
// `folding.steps` steps too.
void CudaPrinter::open_row_loop(int stage, const std::string& first, int stride) {
  const std::string directive = fmt::format("#pragma unroll {}", plan_.pass_unroll);
  const std::string step = of_each_lane(stride);
  if (!folds(stage)) {
    out_.directive(directive);
    out_.open("for (Index r = {}; r < end; r += {})", first, step);
    return;
  }
  out_.open("for (Index r = {}; r < end;)", first);
  out_.line("const Index stop = r + {0} < end ? r + {0} : end;",
            of_each_lane(plan_.folding.steps * stride));
  out_.directive(directive);
  out_.open("for (; r < stop; r += {})", step);
}

std::string CudaPrinter::of_each_lane(int steps) const {
  if (lanes_.empty()) return std::to_string(steps);
  return steps == 1 ? lanes_ : fmt::format("{} * {}", steps, lanes_);
}

void CudaPrinter::fold_held(int stage) {
  if (!folds(stage)) return;
  out_.open("if (h > 0 && h % {} == 0)", plan_.folding.steps);
  fold_states(stage);
  out_.close();
}

void CudaPrinter::close_row_loop(int stage) {
  out_.close();
  if (!folds(stage)) return;
  fold_states(stage);
  if (plan_.held == 0) out_.close();
}

void CudaPrinter::finish_states(int stage, const std::string& first) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    if (reduction.scan || reduction.stage != stage) continue;
    if (folds(reduction) && plan_.mapping == Mapping::columns) {
      out_.directive("#pragma unroll");
      out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = total{0}[k];", i, plan_.vector);
    }
    if (!tracks_index(reduction)) continue;
    out_.line("R{0}::State a{0}[{1}];", i, plan_.vector);
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = R{0}::walked(w{0}[k], {2} < end);", i,
              plan_.vector, first);
  }
}

void CudaPrinter::combine_states(int stage, const std::string& position) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    if (reduction.scan || reduction.stage != stage) continue;
    if (tracks_index(reduction)) {
      out_.line("w{0}[{1}] = R{0}::next<Index>(w{0}[{1}], v{2}, {3});", i, lane(), reduction.value,
                position);
    } else if (reduction.value >= 0 && reduction.about != passes::SumAbout::nothing) {
      out_.line("a{0}[{1}] = R{0}::next(a{0}[{1}], v{2});", i, lane(), reduction.value);
    } else if (reduction.value >= 0) {
      out_.line("a{0}[{1}] = R{0}::combine(a{0}[{1}], R{0}::lift(v{2}, {3}));", i, lane(),
                reduction.value, position);
    } else {
      out_.line("a{0}[{1}] = R{0}::combine(a{0}[{1}], load(p{2}, r * rows + row));", i, lane(),
                reduction.partials);
    }
  }
}
}  // namespace heddle::codegen
