#pragma once

#include <vector>

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// A reduction whose elements are instructions, as arithmetic.
struct UnrolledReduction {
  ir::Op op{};
  DType dtype = DType::f32;    ///< of the elements
  bool along_columns = false;  ///< ir::reduces_columns
  ValueId source{};
};

/// Appends the arithmetic that combines `elements` to the body of a kernel. Floats are combined in
/// the order of ir/scalar/reduce_tree.h. Returns the instruction that has the result.
int add_reduction(KernelPlan& plan, const UnrolledReduction& reduction,
                  const std::vector<int>& elements);

}  // namespace heddle::passes
