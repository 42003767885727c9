#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// Elementwise function applied to a product before it is stored: relu is max(x, 0), gelu is the
/// tanh form of gelu.
enum class Activation : std::uint8_t { none, relu, gelu };

/// A matrix product and the ops after it, as the library computes them in one call:
/// activation(alpha * a x b + beta * residual + bias), rounded once.
struct Epilogue {
  ir::ValueId product{};
  std::vector<ir::ValueId> nodes;   ///< computed by the call only; the stored one is first
  std::vector<ir::ValueId> beside;  ///< computed by the call and elsewhere: factors, casts of terms
  Factor alpha, beta;
  std::optional<ir::ValueId> residual;  ///< in memory, with as many elements as the result
  std::optional<ir::ValueId> bias;      ///< in memory, one element for each column
  Activation activation = Activation::none;
  /// "matmul + bias + relu"
  std::string description() const;
};

}  // namespace heddle::passes
