#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// A number of a plan that its kernel can take as an argument: a loop's extent, a stride, an
/// offset, a divisor, or a bound of a slice. A constant, or an expression of the program's symbols.
struct PlanNumber {
  Dim value = 0;
  bool extent = false;  ///< of a loop
  /// The largest power of two, up to the plan's vector width, that divides the value, where vectors
  /// may depend on it: an argument must be a multiple of it, too.
  std::int64_t multiple = 1;
};

/// The plan with each of these numbers replaced by `replace(number)`, in an index space of its own.
/// Numbers are visited in a fixed order. Not visited, since they choose the plan's form:
/// - coefficients and steps of 1 and -1, and extents of 0 and 1;
/// - extents of loops whose elements threads keep in registers, or that the host splits;
/// - extents of loops within an item, and everything about arrays in an item's memory;
/// - expressions of symbols that are never positive.
/// `space` must be empty and outlive the plan. nullopt for a sort kernel.
std::optional<KernelPlan> with_numbers(const KernelPlan& plan, IndexSpace& space,
                                       const std::function<Dim(const PlanNumber&)>& replace);

/// Instructions that are constants and may be scalar arguments without a change of bits: all their
/// users are exactly rounded. In ascending order.
std::vector<int> constant_arguments(const KernelPlan& plan);

}  // namespace heddle::passes
