#pragma once

#include <cstdint>

#include "ir/types/target.h"
#include "passes/groups/group.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Sums of exp(x - m) over a row, where m depends on another reduction of the row: its maximum. If
/// blocks cannot hold the row, a GPU computes them in the pass that computes m, relative to a
/// number r that it has then (SumAbout).

/// Whether a maximum whose result is used in the rows of the group is only used there as the m of
/// such sums.
bool only_centres_sums(const Graph& graph, const Group& group, ValueId reduction);

/// Rewrites the plan if it has such sums and needs one pass less then. Needs assign_stages(), and
/// afterwards again. Returns whether it changed the plan.
bool sum_in_one_pass(KernelPlan& plan, IndexSpace& space, const ir::Target& target);

/// The longest row, or column, that a block or a cluster holds in registers (normalization.cpp).
std::int64_t elements_held(std::int64_t element_bytes, bool contiguous, const ir::Target& target);

}  // namespace heddle::passes
