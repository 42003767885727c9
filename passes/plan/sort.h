#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"
#include "passes/plan/sort_call.h"

namespace heddle::passes {

/// The kernels of a sort on a GPU. `disabled` may name a method, "merge_sort" or "radix_sort",
/// where the other does as well.
struct SortPlans {
  SortKernels launch;
  std::vector<KernelPlan> kernels;
};
SortPlans plan_sort(const SortCall& step, const ir::Target& target,
                    const std::vector<std::string>& disabled);

/// Bytes of the memory that the call needs beside its operand and result.
std::vector<Dim> scratch_bytes(const SortCall& step);

/// Scratch an element for argsort on the host: twice a key's bits with a place of 4 bytes.
std::int64_t host_place_bytes(DType dtype);

/// The launches for concrete sizes, each with constant sizes and the buffers of the call.
std::vector<KernelStep> launches(const SortCall& step, std::int64_t rows, std::int64_t length);

/// What a sort moves beyond reading its operand and writing its result once. Of a length that is a
/// symbol, nothing.
Dim extra_bytes(const SortCall& step);

}  // namespace heddle::passes
