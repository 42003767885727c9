#pragma once

#include <cstddef>
#include <optional>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// What is worth a loop.
struct RollLimits {
  std::size_t min_steps = 32;
  std::size_t min_nodes = 256;  ///< of all steps together
  /// Up to so many, steps that read and write other elements than the steps before stay unrolled,
  /// if they fuse with each other: they are fewer kernels than steps.
  std::size_t most_fused_nodes = 5000;
  /// Of the loop whose region the graph is. A region is planned by itself and cannot use it, so a
  /// loop that starts there must need no arrays; what it becomes then has the starts outside of it.
  std::optional<ir::SymbolId> counter = {};
  /// So many steps are worth a loop, whatever they do, if they can then be done at once
  /// (LoopForm::none). `min_steps` are, if the loop need not carry arrays. 0: not asked.
  std::size_t min_independent_steps = 0;
};

/// Turns unrolled loops back into loops: steps with the same ops and types, of which each uses
/// values of the steps before it, become one control.scan. The starts of slices, and constants that
/// are integers, may grow by the same number from step to step. Values of all steps that are used
/// elsewhere are stacked, unless the steps fuse with each other. The longest loop is rolled first.
/// A loop in its body is rolled when the body is planned; a loop around it, when it is found next.
///
/// Steps are found as repeats in the sequence of the graph's nodes, so they must have been recorded
/// one after the other.
ir::Graph roll_loops(const ir::Graph& graph, const RollLimits& limits = {});

}  // namespace heddle::passes
