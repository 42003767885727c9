#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// What a graph computes, element by element, of a matrix product before its softmax: masks,
/// biases, limits.
struct ScoreMap {
  ir::ValueId product{};
  ir::Graph graph;                    ///< region of ir::calls::attention()
  std::vector<ir::ValueId> operands;  ///< arrays that the region takes after the scores
  std::vector<ir::ValueId> nodes;     ///< between the product, which is included, and the result
};

/// Finds the map that computes `scores` of a product of the same shape, in float32. Values that do
/// not depend on the product are computed in the map where that is cheap (masks from indices, views
/// of arrays), and else are operands.
std::optional<ScoreMap> find_score_map(const ir::Graph& graph, ir::ValueId scores);

}  // namespace heddle::passes
