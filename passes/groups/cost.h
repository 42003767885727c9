#pragma once

#include <cstdint>
#include <vector>

#include "ir/types/capabilities.h"
#include "passes/groups/group.h"

namespace heddle::passes {

/// Number of elements of a shape. A symbol counts as a typical extent.
std::int64_t estimated_elements(const ir::Shape& shape);

/// The number of kernel operations that a node counts as, at each index map where it is evaluated.
/// Ops that take long to run also take long to compile. Reductions and scans occupy registers
/// during their whole pass over a row.
int operations_of(const Graph& graph, ValueId node, const ir::Target& target);
/// The sum of those of all nodes of a graph.
int operations_of(const Graph& graph, const ir::Target& target);
/// The operations that a candidate adds to a group, at all of its index maps.
int operations_of(const Graph& graph, const Candidate& candidate, const ir::Target& target);
/// What the group's kernel grows by if the candidate joins: nothing if it is another result of a
/// loop that the group has.
int operations_added(const Graph& graph, const Group& group, const Candidate& candidate,
                     const ir::Target& target);

/// Issue slots for one element of a node.
double slots_of(const Graph& graph, ValueId node);
/// A guess for a user.map: a slot for every two characters of its function, and what loops repeat.
double user_map_slots(const ir::CallData& user_map);

/// The cost of recomputing one element of a value from values in memory.
struct Recomputation {
  bool possible = false;  ///< there is no reduction or library call in between
  double slots = 0;       ///< issue slots
  double bytes = 0;       ///< bytes read
};
/// The recomputation cost of every value of the graph.
std::vector<Recomputation> find_recomputations(const Graph& graph);

/// Whether computing a value separately in each of `groups` groups moves fewer bytes than storing
/// it, and takes no more time.
bool duplicating_pays(const Recomputation& again, DType dtype, std::size_t groups,
                      const ir::Rates& rates);

/// Whether computing a candidate at each use in the group takes no more time than one more kernel
/// launch, writing the value to memory and reading it back.
/// A reduction that is computed as arithmetic reads its row, or computes it, at each use.
bool recomputing_pays(const Graph& graph, const IndexSpace& space, const Group& group,
                      const Candidate& candidate, const std::vector<Recomputation>& recomputations,
                      const ir::Target& target);

}  // namespace heddle::passes
