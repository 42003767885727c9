#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// A value equal to x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), in any algebraic form: the
/// tanh approximation of gelu.
struct Gelu {
  ir::ValueId x{};
  std::vector<ir::ValueId> nodes;  ///< nodes between x and the value, without views; the value is
                                   ///< first
};
/// Finds the tanh form of gelu that computes `value`, if any. The form with erf is a different
/// function and is not matched.
std::optional<Gelu> find_gelu(const ir::Graph& graph, ir::ValueId value);

/// The value below reshapes and broadcasts.
ir::ValueId below_broadcasts(const ir::Graph& graph, ir::ValueId value);
/// The number that all elements of a floating value are equal to, if the graph shows it.
std::optional<double> constant_of(const ir::Graph& graph, ir::ValueId value);

}  // namespace heddle::passes
