#pragma once

#include <optional>
#include <string>

#include "passes/groups/group.h"

namespace heddle::passes {

/// Loop-nest matching of a reduction: its result is indexed by the outer loops, and its reduced
/// axes by the inner loops, which are new or already exist. Returns the candidate with its loops,
/// or sets `reason` and returns nullopt.
std::optional<Candidate> match_reduction(const Graph& graph, IndexSpace& space, const Group& group,
                                         Candidate candidate, std::string& reason);

/// Loop-nest matching of a scan: one of the group's loops runs along the scan's axis and becomes
/// the inner loop.
std::optional<Candidate> match_scan(const Graph& graph, IndexSpace& space, const Group& group,
                                    Candidate candidate, std::string& reason);

}  // namespace heddle::passes
