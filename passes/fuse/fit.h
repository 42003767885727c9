#pragma once

#include <optional>
#include <string>

#include "passes/groups/group.h"

namespace heddle::passes {

/// Fits a reduction into the group's loops: its result belongs to the rows, its reduced axes are
/// the inner loops, either new ones or those over which the row is walked anyway. `reason` says why
/// it does not fit.
std::optional<Candidate> fit_reduction(const Graph& graph, IndexSpace& space, const Group& group,
                                       Candidate candidate, std::string& reason);

/// Fits a scan into the group's loops: one of them walks its axis, and is the inner loop.
std::optional<Candidate> fit_scan(const Graph& graph, IndexSpace& space, const Group& group,
                                  Candidate candidate, std::string& reason);

}  // namespace heddle::passes
