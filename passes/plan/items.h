#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// How a call works on one item of its batch: by a routine of the device library, on arrays in the
/// item's memory.
struct ItemCall {
  ItemRoutine routine;  ///< without `arrays`
  int threads = 1;      ///< on a GPU, for one item
  /// The threads exchange values by the lanes of a warp: they are a power of two up to 32, and a
  /// block has whole warps.
  bool lanes = false;
  int resident = 0;  ///< threads of a multiprocessor that registers should suffice for
  /// The offset in bytes of each operand and then each result in the item's memory. Arrays may
  /// overlap.
  std::vector<std::int64_t> offsets;
  int padding = 0;         ///< bytes that follow every 128 bytes of each array
  std::int64_t bytes = 0;  ///< memory of one item, with padding
};

/// The most memory that the items of one block, or of one CPU thread, may take.
std::int64_t most_item_bytes(const ir::Target& target);

/// Whether the loops count the elements, neighbours along the last loop at once, in the order in
/// which they are at `address`: whether a routine can take or pass them.
bool counts_elements(const KernelPlan& plan, const Index& address, const std::vector<Loop>& loops,
                     const PassedElements& elements);

/// The threads that the routines of a kernel want for an item.
struct ItemThreads {
  int count = 1;
  bool lanes = false;  ///< ItemCall::lanes, of any routine
  int resident = 0;    ///< the most of ItemCall::resident
  /// The least number of items in a block on a GPU.
  int least_items() const { return lanes ? 32 / count : 1; }
};

/// The phase before the routine in phase `at` that makes its operand k, or that does something
/// else; nullopt if none is there.
std::optional<std::size_t> phase_before(const ItemRoutine& routine, std::size_t at, std::size_t k);

/// Chooses the items of a block and the order in which phases visit them.
void schedule_items(KernelPlan& plan, ItemThreads threads, const ir::Target& target);

}  // namespace heddle::passes
