#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"
#include "passes/plan/sort_call.h"

namespace heddle::passes {

/// The kernels of a sort on a GPU. `disabled` may contain "merge_sort" or "radix_sort"; then the
/// other method is used if it can sort the keys.
struct SortPlans {
  SortKernels launch;
  std::vector<KernelPlan> kernels;
};
SortPlans plan_sort(const SortCall& step, const ir::Target& target,
                    const std::vector<std::string>& disabled);

/// Sizes in bytes of the scratch buffers of the call.
std::vector<Dim> scratch_bytes(const SortCall& step);

/// argsort on the host: scratch bytes for each element, for two pairs of a key and a 4-byte index.
std::int64_t host_index_bytes(DType dtype);

/// The launches for given sizes, with the call's buffers and all sizes constant.
std::vector<KernelStep> launches(const SortCall& step, std::int64_t rows, std::int64_t length);

/// Bytes that a sort moves in addition to reading its operand and writing its result once. 0 if the
/// length is symbolic.
Dim extra_bytes(const SortCall& step);

}  // namespace heddle::passes
