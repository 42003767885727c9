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

/// The segments of an axis that the rows of a group reduce: the values that give their begins and
/// ends, and the index map at which a row reads these.
struct Segments {
  ValueId begin{}, end{};
  IndexMap at;
  friend bool operator==(const Segments&, const Segments&) = default;
};

/// Nodes that become one kernel or one library call. The loops are initially the axes of the root.
/// The first reduction or scan splits them into outer loops (over rows) and inner loops (within a
/// row).
struct Group {
  ValueId root{};
  bool library = false;
  std::vector<AtomId> outer, inner;
  std::optional<Segments> segments;  ///< if set, the inner loop runs over the segment of a row
  /// Members that are reductions of a few elements, computed as arithmetic on these, without a
  /// loop.
  std::vector<ValueId> unrolled;
  std::vector<AtomId> scanned;        ///< in a group with a scan: all loops, in their order
  std::vector<ValueId> members;       ///< root first, producers after their users
  std::vector<ValueId> stored;        ///< members whose values go to memory
  std::vector<IndexMap> stored_maps;  ///< index map of each stored value over the loops
  std::uint32_t families = 0;         ///< bit i: family i of families() still accepts the group
  bool reads_once = false;            ///< it reduces rows, and no row is read again afterwards
  int operations = 0;                 ///< sum of operations_of, each node at each of its index maps
  int loads = 0;                      ///< values read from memory, among the nodes visited so far
  int reads = 0;                      ///< `loads`, plus values that may still join the group
  bool in_place = false;  ///< the root is a slice_update that writes into its base's memory
  /// For a library group: the product with its epilogue. `fallback` is the equivalent kernel group.
  std::optional<Epilogue> epilogue;
  std::shared_ptr<const Group> fallback;
};

/// A node that may join a group, with the index maps at which the group would evaluate it.
struct Candidate {
  ValueId node{};
  std::vector<IndexMap> maps;     ///< into the node's shape; one for each distinct use
  std::vector<AtomId> new_inner;  ///< reductions, scans: the group's inner loops if it joins
  std::vector<AtomId> new_outer;
  std::optional<Segments> segments;  ///< reductions: the segments that it reduces
  bool used_in_inner_loops = false;  ///< the inner loops use its value, directly or indirectly
  bool contiguous = true;            ///< reductions: the last inner loop is contiguous in memory
  bool columnwise = false;           ///< reductions: the last outer loop is contiguous in memory
  bool unrolled = false;             ///< reductions: computed as arithmetic, without a loop
  bool stored = false;               ///< the value is written to memory
};

/// Fusion barrier: why a node did not join the group that uses it.
struct FusionBarrier {
  ValueId node{};
  std::uint32_t group = 0;
  std::string family;  ///< the family that was closest to accepting it
  std::string reason;  ///< the limit that it exceeds, with the number
};

struct Grouping {
  std::shared_ptr<IndexSpace> space;
  std::vector<Group> groups;  ///< in order of creation; later groups run earlier
  std::vector<FusionBarrier> cuts;
};

}  // namespace heddle::passes
