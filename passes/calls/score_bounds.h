#pragma once

#include <optional>

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Keys outside of which the scores of a query are minus infinity. Each depends on the query only,
/// and does not decrease from one query to the next.
struct ScoreBounds {
  std::optional<Index> begin, end;
  bool exact = false;  ///< between them, the scores are the scaled products
};

/// The bounds of an instruction of the plan's body: of a choice between scores and minus infinity
/// by comparisons of indices, as in causal attention. `row` and `column` are the loops over queries
/// and keys.
ScoreBounds score_bounds(const KernelPlan& plan, IndexSpace& space, int instruction, AtomId row,
                         AtomId column);

}  // namespace heddle::passes
