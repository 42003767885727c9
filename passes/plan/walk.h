#pragma once

#include <cstdint>
#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

// Memory access patterns of plans with inner loops.

inline std::int64_t known(Dim dim, std::int64_t otherwise) {
  return dim.is_constant() ? dim.constant() : otherwise;
}
inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Loads inside the inner loops. They cause nearly all of the traffic.
std::vector<const Instruction*> element_loads(const KernelPlan& plan);
/// Bytes of memory that a load reads, each counted once. An extent that is not known counts as
/// 2^20.
double bytes_read(const KernelPlan& plan, const Instruction& load);
/// Whether neighbouring iterations of the loop access neighbouring elements.
bool runs_along(const KernelPlan& plan, const Index& address, const Loop& loop);
/// Compares the bytes that are contiguous along the last outer loop with those that are contiguous
/// along the last inner loop. True if the former are more.
bool reads_columnwise(const KernelPlan& plan, const ir::Target& target);
/// The widest vector along `loop` that all accesses allow, in elements. With `whole_vectors`, the
/// loop's extent must be a multiple of it.
int widest_access(const KernelPlan& plan, const Loop& loop, bool whole_vectors,
                  const ir::Target& target);

}  // namespace heddle::passes
