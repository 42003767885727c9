#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/groups/epilogue.h"
#include "passes/groups/index.h"

namespace heddle::passes {

using ir::Graph;
using ir::ValueId;

/// Nodes that become one kernel, or one library call. Loops start as the axes of the root; the
/// first reduction or scan splits them into rows (outer) and what is walked within a row (inner).
struct Group {
  ValueId root{};
  bool library = false;
  std::vector<AtomId> outer, inner;
  std::vector<AtomId> scanned;        ///< of a group that scans: all loops, in their order
  std::vector<ValueId> members;       ///< root first, producers after their users
  std::vector<ValueId> stored;        ///< members whose values go to memory
  std::vector<IndexMap> stored_maps;  ///< where the loops visit each of them
  std::uint32_t families = 0;         ///< bit i: family i of families() still takes the group
  int operations = 0;                 ///< as operations_of counts them, at each place
  int loads = 0;                      ///< values read from memory, as far as they have been visited
  int reads = 0;                      ///< the same, and those that may still join
  bool in_place = false;  ///< the root is a slice_update that writes into its base's memory
  /// Of a library group of a product and what follows it; `fallback` is the kernel for that.
  std::optional<Epilogue> epilogue;
  std::shared_ptr<const Group> fallback;
};

/// A node that asks to join a group, with where the group would evaluate it.
struct Candidate {
  ValueId node{};
  std::vector<IndexMap> maps;     ///< into the node's shape, one for each distinct use
  std::vector<AtomId> new_inner;  ///< reductions, scans: the inner loops that the group would get
  std::vector<AtomId> new_outer;
  bool feeds_elements = false;  ///< its value is used, however indirectly, inside the inner loops
  bool contiguous = true;       ///< reductions: the last inner loop runs through memory
  bool columnwise = false;      ///< reductions: the last outer loop does
  bool stored = false;          ///< its value goes to memory
};

/// Why a node did not join the group that uses it.
struct Cut {
  ValueId node{};
  std::uint32_t group = 0;
  std::string family;  ///< that came nearest
  std::string reason;  ///< the limit it broke, with its number
};

struct Grouping {
  std::shared_ptr<IndexSpace> space;
  std::vector<Group> groups;  ///< in order of creation: later ones run earlier
  std::vector<Cut> cuts;
};

}  // namespace heddle::passes
