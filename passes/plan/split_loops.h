#pragma once

#include <memory>
#include <optional>

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// A plan with its own space of addresses.
struct OwnPlan {
  std::unique_ptr<IndexSpace> space;
  KernelPlan plan;
};

/// The plan of a kernel of elements for printing it for a CPU, with the last loop split where the
/// body needs its quotient and remainder, as for [b, c kh kw, rows columns] of a convolution's
/// windows: elements of a run then differ in the last loop only, nothing is divided for each of
/// them, and the compiler vectorises the run. nullopt if there is nothing to split.
std::optional<OwnPlan> split_last_loop(const KernelPlan& plan);

}  // namespace heddle::passes
