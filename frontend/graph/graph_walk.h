#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontend/graph/node.h"
#include "ir/graph/graph.h"
#include "runtime/execute/executable.h"

namespace heddle::frontend {

/// What one evaluation covers: the pending graph under some nodes, in topological order, with its
/// leaves among it, and which of its nodes become values.
struct GraphWalk {
  struct Entry {
    Node* node;
    Node::Kind kind;  ///< as it was met: another thread may give a scalar a value meanwhile
    std::uint32_t operand_count = 0;
  };
  std::vector<Entry> order;              ///< every node once, operands before users
  std::vector<std::uint32_t> positions;  ///< in `order`, of the operands of all operations in turn
  std::vector<std::uint32_t> outputs;    ///< positions of the operations that get a value
  std::vector<std::uint32_t> leaves;     ///< of arrays and scalars: the program's parameters
  std::vector<std::uint32_t> regions;    ///< positions of slices and slice updates
  std::vector<std::uint32_t> open;       ///< per region: Node::open_starts
  std::vector<bool> donated;             ///< per leaf: its memory may be written
  std::vector<bool> aligned;             ///< per leaf
  ir::Hash128 key;               ///< equal keys make equal programs; open starts take no part
  ir::Hash128 exact;             ///< all starts take part: the key of a walk that opens none
  std::vector<NodeRef> results;  ///< of calls, that the roots do not need
  bool busy = false;             ///< part of it is being computed: wait and walk again
  bool busy_here = false;        ///< by this thread, so that waiting would be for ever

  /// The open starts, in order: parameters before the leaves.
  std::vector<std::int64_t> starts() const;
};

/// Walks from `roots`. A root becomes an output; with `only_escaping` only when somebody else than
/// the caller, who holds each root once, and the graph refers to it. graph_mutex() is held.
GraphWalk walk_graph(std::span<const NodeRef> roots, bool only_escaping);

/// The program's graph; `result[i]` says which of its outputs is the walk's output i.
ir::Graph build_graph(const GraphWalk& walk, std::vector<std::uint32_t>& result);

/// True where the element is at a multiple of 16 bytes.
bool is_aligned(const runtime::DeviceArray& array);

}  // namespace heddle::frontend
