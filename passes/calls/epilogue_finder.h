#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/groups/epilogue.h"

namespace heddle::passes {

/// What a graph may ask of an epilogue, beside its target.
struct EpilogueOptions {
  bool enabled = true;
  bool strict = false;       ///< every op rounds by itself
  bool approximate = false;  ///< as CompileOptions
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
