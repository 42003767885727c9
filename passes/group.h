#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/target.h"
#include "passes/epilogue.h"
#include "passes/index.h"

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
  /// Of a library group of a product and what follows it; `stands_by` is the kernel for that.
  std::optional<Epilogue> epilogue;
  std::shared_ptr<const Group> stands_by;
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

struct GroupOptions {
  ir::Target target;
  std::vector<bool> donated;          ///< per parameter
  std::vector<std::string> disabled;  ///< families and switches
  bool strict = false, approximate = false;
};

/// Cuts the graph into groups, from the outputs back: a node joins the group of its users when that
/// is the one that runs first of them and some family takes it; otherwise it is stored by a group
/// of its own, or computed again where that is cheaper. Groups so made only depend on later ones,
/// so they are convex, and each node is looked at once.
Grouping group(const Graph& graph, const GroupOptions& options);

/// Where operand `k` of a node is read when the node is evaluated at `map`. For a reduction the
/// reduced axes run over `inner`.
IndexMap operand_map(IndexSpace& space, const Graph& graph, ValueId node, std::size_t k,
                     const IndexMap& map, const std::vector<AtomId>& inner = {});
/// Whether a node depends on the values of operand `k` at all: not of what a slice_update covers,
/// and of indices along an axis of one element.
bool reads_operand(const Graph& graph, ValueId node, std::size_t k);
/// Where the value of a slice_update is read by loops over its region.
IndexMap region_value_map(const IndexMap& region, const ir::Shape& value);
/// The map visits every element of `shape` exactly once as `loops` run.
bool is_bijective(IndexSpace& space, const IndexMap& map, const ir::Shape& shape,
                  const std::vector<AtomId>& loops);
/// What the operands of a scatter broadcast to.
ir::Shape scatter_region(const Graph& graph, ValueId node);
/// Loops for the axes of a shape, and the map that they make.
std::vector<AtomId> loops_over(IndexSpace& space, const ir::Shape& shape, IndexMap& map);

}  // namespace heddle::passes
