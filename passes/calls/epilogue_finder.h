#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/groups/epilogue.h"

namespace heddle::passes {

/// Options that decide which epilogues are allowed, in addition to the target.
struct EpilogueOptions {
  bool enabled = true;
  bool strict = false;                       ///< every op rounds separately
  bool approximate = false;                  ///< as in CompileOptions
  std::optional<ir::SymbolId> counter = {};  ///< of the loop whose region the graph is
};

/// Finds products with an epilogue: ops after a product that the library can compute in the same
/// call.
class EpilogueFinder {
 public:
  /// If the library of `target` has no epilogues, find() finds none.
  EpilogueFinder(const ir::Graph& graph, const ir::Target& target, const EpilogueOptions& options);

  /// The epilogue whose final result is `stored`, which is the only value that it stores. nullopt
  /// for a product without an epilogue. If none is found, `reason` (if not null) receives the
  /// broken limit.
  std::optional<Epilogue> find(ir::ValueId stored, std::string* reason = nullptr) const;

 private:
  bool is_stored_anyway(ir::ValueId value) const;

  const ir::Graph& graph_;
  ir::Target target_;
  bool enabled_;
  EpilogueOptions options_;
  std::vector<std::uint32_t> uses_;  ///< by needed nodes and by outputs
};

}  // namespace heddle::passes
