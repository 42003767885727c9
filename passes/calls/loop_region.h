#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/calls/lowering.h"

namespace heddle::passes {

using Carries = std::vector<bool>;  ///< a set of carries

/// Adds carries to a set. Returns whether it grew.
bool unite(Carries& all, const Carries& more);

/// The nodes that some outputs need.
std::vector<bool> needed_nodes(const Graph& graph, const std::vector<std::size_t>& outputs);

/// A region of a loop: which of its nodes change from step to step, on which carries they depend,
/// and whether each of them can be computed for one element alone.
class LoopRegion {
 public:
  /// `counters`: the number of parameters before the constants, of which the last is the counter.
  /// Parameters after the carries are sequences. `symbol` stands for the counter in slices.
  LoopRegion(const ir::Region& region, std::size_t counters, std::optional<ir::SymbolId> symbol,
             std::size_t constants, std::size_t carries, const ir::Target& target);

  /// The region, simplified, with lowered calls.
  const Graph& graph() const { return graph_; }
  std::size_t counters() const { return counters_; }
  std::size_t constants() const { return constants_; }
  /// The first node that changes from step to step and is not computed element by element.
  std::optional<ValueId> obstacle() const { return obstacle_; }
  bool varies(ValueId node) const { return varies_[index_of(node)]; }
  const Carries& carries_of(std::size_t output) const {
    return depends_[index_of(graph_.outputs[output])];
  }
  /// Whether a carry is returned as it came.
  bool keeps(std::size_t carry) const {
    return graph_.outputs[carry] == graph_.parameters()[counters_ + constants_ + carry];
  }
  /// Whether an element of the node is the element of its operand at the same position, counted
  /// from the last axis.
  bool is_same_element(ValueId node) const;

 private:
  void look_at(ValueId node);
  bool is_computed(ValueId node) const;
  bool begins_at_counter(ValueId node) const;

  const Graph graph_;
  const std::optional<ir::SymbolId> symbol_;
  const std::size_t counters_, constants_;
  std::vector<Carries> depends_;
  std::vector<bool> varies_;
  std::optional<ValueId> obstacle_;
};

}  // namespace heddle::passes
