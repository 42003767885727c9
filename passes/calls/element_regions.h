#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/calls/loop_region.h"

namespace heddle::passes {

/// Makes the regions of a control.elements with some of a loop's carries and sequences, and its
/// constants.
class ElementRegions {
 public:
  ElementRegions(Graph& outer, const OldCall& call, const Carries& carries,
                 const std::vector<bool>& sequences)
      : outer_(outer), call_(call), carries_(carries), sequences_(sequences) {}

  /// Values that the outputs need and that do not change from step to step are computed before the
  /// loop: further constants.
  void move_invariants(const LoopRegion& region, const std::vector<std::size_t>& outputs);

  /// The region on scalars that computes these outputs. Called in the order of move_invariants(),
  /// after all of these calls.
  ir::Region scalar_region(const LoopRegion& region, const std::vector<std::size_t>& outputs);

  /// The operands before the carries.
  const std::vector<ValueId>& constants() const { return constants_; }

 private:
  void use(const LoopRegion& region, ValueId node);

  Graph& outer_;
  const OldCall& call_;
  const Carries& carries_;
  const std::vector<bool>& sequences_;
  std::vector<ValueId> constants_;
  std::vector<std::vector<std::optional<ValueId>>> moved_;  ///< by region, to the outer graph
  std::size_t made_ = 0;
};

}  // namespace heddle::passes
