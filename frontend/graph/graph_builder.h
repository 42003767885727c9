#pragma once

#include <cstdint>
#include <unordered_map>

#include "frontend/graph/node.h"
#include "ir/graph/graph.h"

namespace heddle::frontend {

/// Builds the program of recorded nodes, lazy or traced: parameters, then each node after its
/// operands, then outputs.
class GraphBuilder {
 public:
  ir::Graph graph;

  void add_array(const Node& node);
  void add_scalar(const Node& node);
  void add_constant(const Node& node);
  /// `node` has the value of `same`, which was added before.
  void add_alias(const Node& node, const Node& same) { values_.emplace(&node, values_.at(&same)); }
  void add_operation(const Node& node) { add_operation(node, attributes_of(node)); }
  void add_operation(const Node& node, ir::Attributes attributes);
  /// Returns the index of the output that holds the node's value. Each value is an output only
  /// once.
  std::uint32_t add_output(const Node& node);

 private:
  static ir::Attributes attributes_of(const Node& node) {
    return node.attributes ? *node.attributes : ir::Attributes{};
  }

  std::unordered_map<const Node*, ir::ValueId> values_;
};

}  // namespace heddle::frontend
