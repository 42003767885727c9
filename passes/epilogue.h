#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/program.h"

namespace heddle::passes {

/// What a graph may ask of an epilogue, beside its target.
struct EpilogueOptions {
  bool enabled = true;
  bool strict = false;       ///< every op rounds by itself
  bool approximate = false;  ///< as CompileOptions
};

/// A matrix product and what follows it, as one call of the library computes it:
/// activation(alpha * a x b + beta * residual + bias), rounded once.
struct Epilogue {
  ir::ValueId product{};
  std::vector<ir::ValueId> nodes;   ///< computed with it alone, the one that is stored first
  std::vector<ir::ValueId> beside;  ///< computed in it too: factors and casts of what is added
  Factor alpha, beta;
  std::optional<ir::ValueId> residual;  ///< in memory, as many elements as the result
  std::optional<ir::ValueId> bias;      ///< in memory, one element a column
  Activation activation = Activation::none;
  /// "matmul + bias + relu"
  std::string description() const;
};

/// Finds the products whose epilogue computes further values.
class EpilogueFinder {
 public:
  /// Where `target` has no library with epilogues none is found.
  EpilogueFinder(const ir::Graph& graph, const ir::Target& target, const EpilogueOptions& options);

  /// The epilogue that ends in `stored`, whose result alone is then in memory. Nothing for a
  /// product by itself. `reason`, where it is given, gets the limit that was broken.
  std::optional<Epilogue> find(ir::ValueId stored, std::string* reason = nullptr) const;

 private:
  bool is_stored_anyway(ir::ValueId value) const;

  const ir::Graph& graph_;
  ir::Target target_;
  bool enabled_;
  EpilogueOptions options_;
  std::vector<std::uint32_t> uses_;  ///< by nodes that outputs need, and by outputs
};

}  // namespace heddle::passes
