#include "passes/plan/long_sum.h"

#include <algorithm>
#include <bit>

#include "passes/plan/analyze.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

int log2_floor(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1;
}
int log2_ceil(std::int64_t n) { return n <= 1 ? 0 : log2_floor(n - 1) + 1; }

/// How the elements of one sum are divided among blocks, threads and vector elements.
struct Tree {
  std::int64_t width = 1;  ///< elements that all threads of a cluster add in one step
  int depth = 0;           ///< additions from one vector element's partial sum to the result
};

Tree tree_of(const KernelPlan& plan) {
  const std::int64_t across = plan.threads_per_row;
  Tree tree{plan.cluster, plan.cluster - 1};
  if (plan.mapping == Mapping::rows) {
    tree.width *= across * plan.vector;
    tree.depth += plan.vector - 1 + log2_ceil(across);
  } else {
    constexpr std::int64_t warp = 32;
    tree.width *= plan.threads / across;
    tree.depth += log2_floor(std::max<std::int64_t>(warp / across, 1)) +
                  static_cast<int>(plan.threads / warp) - 1;
  }
  return tree;
}

/// The bound (1 + 2 log2 n) eps allows this many roundings, and two more, which folding uses.
int roundings_allowed(std::int64_t elements) { return 4 * log2_floor(elements); }

}  // namespace

bool is_rounded_sum(const Reduction& reduction) {
  return reduction.op == ir::Op::sum && !reduction.scan && reduction.about == SumAbout::nothing &&
         (is_floating(reduction.dtype) || is_complex(reduction.dtype));
}

Folding folding_of(const KernelPlan& plan) {
  if (plan.mapping != Mapping::rows && plan.mapping != Mapping::columns) return {};
  if (!std::ranges::any_of(plan.reductions, is_rounded_sum)) return {};
  const Tree tree = tree_of(plan);
  constexpr int longest = 32, shortest = 8;
  const auto longest_run = [&](const auto& keeps_to_bound) {
    int run = longest;
    while (run > shortest && !keeps_to_bound(run)) run /= 2;
    return run;
  };
  // With compensation, a run of additions begins with the rounding error of the last fold.
  const int run = longest_run([&](std::int64_t steps) {
    return steps + tree.depth <= roundings_allowed(steps * tree.width);
  });
  const Dim inner = iterations(plan.inner);
  if (!inner.is_constant()) return {run, true};
  const std::int64_t elements = ceil_divide(inner.constant(), plan.split);
  const std::int64_t steps = ceil_divide(elements, tree.width);
  const std::int64_t allowed = roundings_allowed(elements) - tree.depth;
  if (steps <= run || steps - 1 <= allowed) return {};
  const auto keeps_as_added = [&](std::int64_t part) {
    return part + ceil_divide(steps, part) <= allowed;
  };
  const int part = longest_run(keeps_as_added);
  if (keeps_as_added(part)) return {part, false};
  return {run, true};
}

void compensate_exponentials(KernelPlan& plan) {
  constexpr std::int64_t for_scaling = 16;  // roundings, when references differ
  const Tree tree = tree_of(plan);
  const Dim inner = iterations(plan.inner);
  const std::int64_t elements = inner.is_constant() ? ceil_divide(inner.constant(), plan.split) : 0;
  const bool is_short =
      elements > 0 &&
      ceil_divide(elements, tree.width) + tree.depth + for_scaling <= roundings_allowed(elements);
  for (Reduction& reduction : plan.reductions)
    reduction.compensated = reduction.about == SumAbout::greatest && !is_short;
}

}  // namespace heddle::passes
