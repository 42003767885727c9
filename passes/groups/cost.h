#pragma once

#include <cstdint>
#include <vector>

#include "ir/types/capabilities.h"
#include "passes/groups/group.h"

namespace heddle::passes {

/// Elements of a shape, symbols taken to be of a middling size.
std::int64_t likely_count(const ir::Shape& shape);

/// As how many operations of a kernel a node counts at each place where it is evaluated: what takes
/// long is also long to compile, and what walks keeps registers for the whole walk.
int operations_of(const Graph& graph, ValueId node, const ir::Target& target);

/// What it takes to compute one element of a value again from what is in memory.
struct Recomputation {
  bool possible = false;  ///< no reduction or library call in between
  double slots = 0;       ///< issue slots
  double bytes = 0;       ///< read
};
/// For every value of the graph.
std::vector<Recomputation> find_recomputations(const Graph& graph);

/// Computing a value in each of so many groups moves fewer bytes than storing it, and takes no more
/// time.
bool duplicating_pays(const Recomputation& again, DType dtype, std::size_t groups,
                      const ir::Rates& rates);

/// Computing a candidate wherever the group uses it costs no more time than writing it to memory,
/// reading it back and launching one more kernel.
bool recomputing_pays(const Graph& graph, const IndexSpace& space, const Group& group,
                      const Candidate& candidate, const ir::Target& target);

}  // namespace heddle::passes
