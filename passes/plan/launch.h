#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"
#include "passes/program/program.h"

namespace heddle::passes {

/// Columns that one host piece of a columns kernel accumulates at once: so many that the states of
/// all its reductions stay well within a thread's stack, and at most `most_host_columns`.
inline constexpr std::int64_t most_host_columns = 1024;
std::int64_t host_columns(const KernelPlan& plan);
/// States of one column of a reduction that a columns kernel of the host has at a time: one, or the
/// levels of the tree that the longest column takes.
std::int64_t host_states_a_column(const KernelPlan& plan, const Reduction& reduction);
/// Elements that are worth handing to another thread of the host, which takes a microsecond or two
/// to begin.
std::int64_t host_worthwhile(const KernelPlan& plan);
/// Elements of the inner loops in each part but the last, on the host, where their number is known.
/// A power of two, so that parts are subtrees of the order in ir/scalar/reduce_tree.h.
std::int64_t host_part_length(const KernelPlan& plan);
/// The order in which the CPU combines elements (ir/scalar/reduce_tree.h): any, where it does not
/// show in the result.
enum class CombineOrder : std::uint8_t { any, rows, columns };
CombineOrder order_of(const Reduction& reduction);
inline bool has_order(const Reduction& reduction) {
  return order_of(reduction) != CombineOrder::any;
}
/// The same of a kernel that scans them.
inline constexpr std::int64_t host_scan_columns = 128;
/// Elements between the rows of a staged tile, so that both directions meet few bank conflicts.
inline int tile_pitch(const KernelPlan& plan) { return plan.tile_edge + plan.vector; }
/// Shared memory of a staged tile.
std::size_t tile_bytes(const KernelPlan& plan, DType dtype);
/// The outer loops as threads of the elements mapping take them, several iterations of one at once.
std::vector<Loop> thread_loops(const KernelPlan& plan);
/// The outer loops that tiles do not cover: all but the last and `tile_loop`.
std::vector<Loop> untiled_loops(const KernelPlan& plan);

/// Symbols in the order in which the kernel takes their values, after its operands.
std::vector<ir::SymbolId> kernel_symbols(const KernelPlan& plan);
/// Scalar inputs in the order in which the kernel takes them, last.
std::vector<std::uint32_t> kernel_scalars(const KernelPlan& plan);
/// Inner iterations that a block of a scan holds at once.
std::int64_t scan_tile(const KernelPlan& plan);
/// Bytes of one reduction state of `reduction`, as ir/scalar/ lays it out.
std::size_t state_bytes(const Reduction& reduction);
/// Shared memory that a block needs, in bytes.
std::uint32_t shared_bytes(const KernelPlan& plan);
/// Where the blocks of a cluster find what they exchange, in bytes from the start of shared memory,
/// for each reduction: the exchange, and a parcel of `width` states for each block and slot.
struct ClusterMemory {
  int slots = 1, width = 1;
  std::vector<std::int64_t> exchanges, parcels;
  std::int64_t bytes = 0;  ///< of all shared memory
};
ClusterMemory cluster_memory(const KernelPlan& plan);
/// What the tiles of a look-back tell each other. Tiles are the leaves of a tree, whose nodes are
/// numbered within twice as many as there are tiles.
struct LookBackBytes {
  std::vector<Dim> states;       ///< of each reduction
  Dim flags;                     ///< at least `flags_a_block` for each block
  std::int64_t flags_a_block{};  ///< a ticket, and a flag a node and reduction
};
LookBackBytes look_back_bytes(const KernelPlan& plan);
/// Blocks, threads and shared memory of a launch; parameters are left empty.
KernelStep launch_shape(const KernelPlan& plan, const ir::Target& target);

}  // namespace heddle::passes
