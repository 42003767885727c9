#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/groups/group.h"

namespace heddle::passes {

/// Loop-nest matching of a reduction: its result is indexed by the outer loops, and its reduced
/// axes by the inner loops, which are new or already exist. Returns the candidate with its loops,
/// or sets `reason` and returns nullopt.
std::optional<Candidate> match_reduction(const Graph& graph, IndexSpace& space, const Group& group,
                                         Candidate candidate, std::string& reason);

/// The loops that are indices of the map on their own, in the order of the axes.
std::vector<AtomId> loops_in_order(const IndexSpace& space, const IndexMap& map);

/// Loop-nest matching of a scan: one of the group's loops runs along the scan's axis and becomes
/// the inner loop, or is already that of the reductions that follow the scan.
std::optional<Candidate> match_scan(const Graph& graph, IndexSpace& space, const Group& group,
                                    Candidate candidate, std::string& reason);

}  // namespace heddle::passes
