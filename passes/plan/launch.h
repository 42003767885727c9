#pragma once

#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"
#include "passes/program/program.h"

namespace heddle::passes {

/// The number of columns that one host task of a columns kernel accumulates at once. At most
/// `most_host_columns`, and few enough that the states of all reductions stay well within a
/// thread's stack.
inline constexpr std::int64_t most_host_columns = 1024;
std::int64_t host_columns(const KernelPlan& plan);
/// The number of states that a host columns kernel keeps for one column of a reduction: one, or the
/// levels of the combination tree for the longest column.
std::int64_t host_states_a_column(const KernelPlan& plan, const Reduction& reduction);
/// The number of elements worth a further host thread, which takes a microsecond or two to start.
std::int64_t host_worthwhile(const KernelPlan& plan);
/// Inner iterations in each part except the last, on the host, if their number is known. A power of
/// two, so that parts are subtrees of the order in ir/scalar/reduce_tree.h.
std::int64_t host_part_length(const KernelPlan& plan);
/// The order in which the CPU combines elements (ir/scalar/reduce_tree.h). any: the result does not
/// depend on the order.
enum class CombineOrder : std::uint8_t { any, rows, columns };
CombineOrder order_of(const Reduction& reduction);
inline bool has_order(const Reduction& reduction) {
  return order_of(reduction) != CombineOrder::any;
}
/// The number of columns that one host task of a scan_columns kernel scans at once.
inline constexpr std::int64_t host_scan_columns = 128;
/// Elements between rows of a staged tile. Chosen so that access in both directions has few bank
/// conflicts.
inline int tile_pitch(const KernelPlan& plan) { return plan.tile_last + plan.vector; }
/// Shared memory of a staged tile, in bytes.
std::size_t tile_bytes(const KernelPlan& plan, DType dtype);
/// The outer loops as threads of the elements mapping see them: `held` iterations of `held_loop`
/// count as one.
std::vector<Loop> thread_loops(const KernelPlan& plan);
/// The outer loops that are not part of tiles: all except the last and `tile_loop`.
std::vector<Loop> untiled_loops(const KernelPlan& plan);

/// Symbols in the order in which the kernel takes their values, after its operands.
std::vector<ir::SymbolId> kernel_symbols(const KernelPlan& plan);
/// Scalar inputs in the order in which the kernel takes them, as its last parameters.
std::vector<std::uint32_t> kernel_scalars(const KernelPlan& plan);
/// The inner iterations that a block of a scan holds at once.
std::int64_t scan_tile(const KernelPlan& plan);
/// Size of one state of `reduction` in bytes, as defined in ir/scalar/.
std::size_t state_bytes(const Reduction& reduction);
/// Shared memory of a block, in bytes.
std::uint32_t shared_bytes(const KernelPlan& plan);
/// The shared memory through which blocks of a cluster exchange states: byte offsets, for each
/// reduction, of the exchange object and of the parcels, one of `width` states for each block and
/// slot.
struct ClusterMemory {
  int slots = 1, width = 1;
  std::vector<std::int64_t> exchanges, parcels;
  std::int64_t bytes = 0;  ///< total shared memory
};
ClusterMemory cluster_memory(const KernelPlan& plan);
/// Sizes of the memory through which tiles of a look-back scan communicate. Tiles are the leaves of
/// a tree; its nodes are numbered below twice the number of tiles.
struct LookBackBytes {
  std::vector<Dim> states;         ///< for each reduction
  Dim flags;                       ///< at least `flags_per_block` for each block
  std::int64_t flags_per_block{};  ///< a ticket, and a flag for each tree node and reduction
};
LookBackBytes look_back_bytes(const KernelPlan& plan);
/// Blocks, threads and shared memory of a launch; parameters stay empty.
KernelStep launch_shape(const KernelPlan& plan, const ir::Target& target);

}  // namespace heddle::passes
