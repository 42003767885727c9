#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "passes/plan/kernel_plan.h"
#include "passes/rewrite/attention.h"

namespace heddle::passes {

/// Queries, keys, values and result.
std::array<const BatchOfRows*, 4> rows_of(const AttentionKernel& attention);
/// The addresses of the elements of column 0, over the plan's loops, in that order.
std::vector<Index> row_addresses(const KernelPlan& plan);
/// Shared memory of a block: AttentionMemory in codegen/device/attention.h, which the kernel aligns
/// to 1024 bytes.
std::uint32_t attention_bytes(const AttentionKernel& attention);

}  // namespace heddle::passes
