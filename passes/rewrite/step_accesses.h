#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "ir/graph/graph.h"
#include "passes/rewrite/stepped_region.h"

namespace heddle::passes {

/// How the steps of a control.scan use its carries. No two of them write the same elements. A step
/// reads what it has written itself, what the step before it has written, or what no earlier step
/// writes. So the carries need not change before the end of the loop.
struct StepAccesses {
  std::int64_t count = 0;
  bool reverse = false;  ///< the last step is taken first
  ir::SymbolId counter{};
  std::size_t constants = 0, carries = 0;  ///< operands of each kind, before the sequences
  /// Nodes of the region that are a carry before or after updates: which.
  std::map<ir::ValueId, std::size_t> carry_of;
  /// Slices and updates of carries: where.
  std::map<ir::ValueId, SteppedRegion> regions;
  /// Slices that read what an update of the same step has written: which.
  std::map<ir::ValueId, ir::ValueId> written_by;
  /// Slices that read what an update of the step before has written: which.
  std::map<ir::ValueId, ir::ValueId> carried_from;

  /// Whether no step needs a result of another one.
  bool are_independent() const { return carried_from.empty(); }
};

/// The parameters of a scan's region before the constants: the counter as an extent, and as a
/// number.
inline constexpr std::size_t counter_parameters = 2;

/// Of a control.scan with so many operands. nullopt if its steps do anything else, or what they do
/// is unknown.
std::optional<StepAccesses> step_accesses(const ir::CallData& scan, std::size_t operands);

}  // namespace heddle::passes
