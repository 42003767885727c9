#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontend/graph/node.h"
#include "ir/graph/graph.h"
#include "runtime/execute/executable.h"

namespace heddle::frontend {

/// The scope of one evaluation: the pending graph under some roots in topological order, its
/// leaves, and the nodes that get a value.
struct EvaluationGraph {
  struct Entry {
    Node* node;
    Node::Kind kind;  ///< when visited; another thread may give a scalar a value later
    std::uint32_t operand_count = 0;
  };
  std::vector<Entry> order;              ///< every node once, operands before users
  std::vector<std::uint32_t> positions;  ///< operands of all operations, as indices into `order`
  std::vector<std::uint32_t>
      first_operands;                  ///< for each element of `order`: index into `positions`
  std::vector<std::uint32_t> outputs;  ///< indices into `order` of operations that get a value
  std::vector<std::uint32_t> leaves;   ///< of arrays and scalars: the program's parameters
  std::vector<std::uint32_t> regions;  ///< indices into `order` of slices and slice updates
  std::vector<std::uint32_t> open;     ///< Node::dynamic_starts, for each element of `regions`
  std::vector<bool> donated;           ///< for each leaf: its memory may be overwritten
  std::vector<bool> aligned;           ///< for each leaf
  ir::Hash128 key;                     ///< equal keys mean equal programs; excludes open starts
  ir::Hash128 exact;             ///< includes all starts: the key of a walk without open starts
  std::vector<NodeRef> results;  ///< of calls, not needed by the roots
  bool busy = false;             ///< another thread computes a part: wait and walk again
  bool busy_here = false;        ///< this thread computes a part: waiting would never end

  /// Values of the open starts, in order, each once where starts are known to be equal. They are
  /// program parameters before the leaves.
  std::vector<std::int64_t> starts() const;
};

/// Walks the graph from `roots`. Each root becomes an output. With `only_escaping`, it becomes an
/// output only if it is referenced from outside the graph; the caller must hold each root exactly
/// once. graph_mutex() must be held.
EvaluationGraph collect_evaluation_graph(std::span<const NodeRef> roots, bool only_escaping);

/// The program's graph. result[i] is the program output that holds the walk's output i.
ir::Graph build_graph(const EvaluationGraph& walk, std::vector<std::uint32_t>& result);

/// True if the first element is at an address that is a multiple of 16 bytes.
bool is_aligned(const runtime::DeviceArray& array);

}  // namespace heddle::frontend
