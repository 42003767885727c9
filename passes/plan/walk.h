#pragma once

#include <cstdint>
#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// How the accesses of a plan with inner loops run through memory.

inline std::int64_t known(Dim dim, std::int64_t otherwise) {
  return dim.is_constant() ? dim.constant() : otherwise;
}
inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Loads inside the inner loops, which are nearly all of the traffic.
std::vector<const Instruction*> element_loads(const KernelPlan& plan);
/// What a load reads of memory, in bytes, each once. A loop of unknown extent counts as long.
double bytes_read(const KernelPlan& plan, const Instruction& load);
/// Neighbouring iterations of the loop touch neighbours in memory.
bool runs_along(const KernelPlan& plan, const Index& address, const Loop& loop);
/// More of the bytes that are read lie beside those of the next outer iteration than beside those
/// of the next inner one.
bool reads_columnwise(const KernelPlan& plan);
/// The widest vectors along `loop` that every access allows; `whole_vectors`: without a tail.
int widest_access(const KernelPlan& plan, const Loop& loop, bool whole_vectors,
                  const ir::Target& target);

}  // namespace heddle::passes
