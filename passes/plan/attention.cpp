#include "passes/plan/attention.h"

namespace heddle::passes {

std::array<const BatchOfRows*, 4> rows_of(const AttentionKernel& attention) {
  return {&attention.queries, &attention.keys, &attention.values, &attention.result};
}

std::vector<Index> row_addresses(const KernelPlan& plan) {
  std::vector<Index> addresses;
  for (const BatchOfRows* const rows : rows_of(*plan.attention)) {
    const bool of_keys = rows == &plan.attention->keys || rows == &plan.attention->values;
    const Loop& row = of_keys ? plan.inner.back() : plan.outer.back();
    addresses.push_back(
        plan.space->add(rows->start, plan.space->scale(plan.space->loop(row.atom), rows->stride)));
  }
  return addresses;
}

std::uint32_t attention_bytes(const AttentionKernel& attention) {
  constexpr std::int64_t chunk_columns = 64, chunk_bytes = 128 * 128, gate = 8, alignment = 1024;
  const std::int64_t depth = (attention.depth + chunk_columns - 1) / chunk_columns;
  const std::int64_t width = (attention.width + chunk_columns - 1) / chunk_columns;
  return static_cast<std::uint32_t>((depth + attention.stages * (depth + width)) * chunk_bytes +
                                    gate * (1 + 4 * attention.stages) + alignment);
}

}  // namespace heddle::passes
