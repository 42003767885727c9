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

/// How the elements of one sum are divided among blocks, threads and lanes.
struct Tree {
  std::int64_t width = 1;  ///< elements of one step of all the threads of a cluster
  int depth = 0;           ///< additions from what a lane has come to up to the result
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

/// (1 + 2 log2 n) eps are this many roundings and two more, which folding takes.
int roundings_allowed(std::int64_t elements) { return 4 * log2_floor(elements); }

}  // namespace

bool is_rounded_sum(const Reduction& reduction) {
  return reduction.op == ir::Op::sum && !reduction.scan &&
         (is_floating(reduction.dtype) || is_complex(reduction.dtype));
}

int fold_after(const KernelPlan& plan) {
  if (plan.mapping != Mapping::rows && plan.mapping != Mapping::columns) return 0;
  if (!std::ranges::any_of(plan.reductions, is_rounded_sum)) return 0;
  const Tree tree = tree_of(plan);
  // What the last fold lost is added first.
  const auto keeps_to_bound = [&](std::int64_t run) {
    return run + tree.depth <= roundings_allowed(run * tree.width);
  };
  constexpr int longest = 32, shortest = 8;
  int run = longest;
  while (run > shortest && !keeps_to_bound(run)) run /= 2;
  const Dim inner = iterations(plan.inner);
  if (!inner.is_constant()) return run;
  const std::int64_t elements = ceil_divide(inner.constant(), plan.split);
  const std::int64_t steps = ceil_divide(elements, tree.width);
  const bool is_short = steps <= run || steps - 1 + tree.depth <= roundings_allowed(elements);
  return is_short ? 0 : run;
}

}  // namespace heddle::passes
