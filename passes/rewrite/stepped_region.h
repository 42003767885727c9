#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/types/attributes.h"

namespace heddle::passes {

/// Where a slice lies in its array. The place may move from step to step of a loop.
struct SteppedRegion {
  struct Axis {
    ir::Dim start;            ///< in step 0; of loops around this one, it may contain counters
    std::int64_t growth = 0;  ///< of the start, from step to step
    std::int64_t step = 1;    ///< from one element to the next
    std::int64_t extent = 1;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::vector<Axis> axes;
  friend bool operator==(const SteppedRegion&, const SteppedRegion&) = default;

  /// The axes on which it moves from step to step.
  std::vector<std::size_t> moving() const;
  /// In step k, it is where this one is in step k - 1.
  SteppedRegion one_step_before() const;
  /// In step k, it is where this one is k steps before the last.
  SteppedRegion backwards(std::int64_t steps) const;
  /// False if it is known to leave the array in one of so many steps.
  bool is_within(const ir::Shape& shape, std::int64_t steps) const;
};

/// The region of a slice or slice_update in a loop; without elements, it stays where it is. nullopt
/// if the starts are no line in the counter, or if extents or steps contain symbols.
std::optional<SteppedRegion> stepped_region(const ir::Attributes& attributes, ir::SymbolId counter);

bool contains_symbol(const ir::Dims& dims, ir::SymbolId symbol);

/// Whether two regions of one array, each in the same step, are known to have no element in common.
bool are_apart_in_a_step(const SteppedRegion& a, const SteppedRegion& b, std::int64_t steps);
/// The same for `a` in any step and `b` in any step before that.
bool are_apart_from_earlier(const SteppedRegion& a, const SteppedRegion& b, std::int64_t steps);

}  // namespace heddle::passes
