#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// A value that is x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) of another, however it is
/// written.
struct Gelu {
  ir::ValueId x{};
  std::vector<ir::ValueId> nodes;  ///< computed on the way from x, views left out; the value first
};
/// The form with erf is another function and is not meant.
std::optional<Gelu> find_gelu(const ir::Graph& graph, ir::ValueId value);

/// Below reshapes and broadcasts: what a value's elements are taken from.
ir::ValueId below_broadcasts(const ir::Graph& graph, ir::ValueId value);
/// The number that all elements of a floating value are, where the graph says it.
std::optional<double> constant_of(const ir::Graph& graph, ir::ValueId value);

}  // namespace heddle::passes
