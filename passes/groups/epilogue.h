#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// What happens to each element of a product before it is stored: max(x, 0), or the form of gelu
/// with tanh.
enum class Activation : std::uint8_t { none, relu, gelu };

/// A matrix product and what follows it, as one call of the library computes it:
/// activation(alpha * a x b + beta * residual + bias), rounded once.
struct Epilogue {
  ir::ValueId product{};
  std::vector<ir::ValueId> nodes;   ///< computed with it alone, the one that is stored first
  std::vector<ir::ValueId> beside;  ///< also computed by the call: factors, casts of terms
  Factor alpha, beta;
  std::optional<ir::ValueId> residual;  ///< in memory, as many elements as the result
  std::optional<ir::ValueId> bias;      ///< in memory, one element a column
  Activation activation = Activation::none;
  /// "matmul + bias + relu"
  std::string description() const;
};

}  // namespace heddle::passes
