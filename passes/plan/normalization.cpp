#include <algorithm>
#include <bit>

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"
#include "passes/plan/launch.h"
#include "passes/plan/sums_about.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

// Blocks that share a row or columns. Two of them run on a multiprocessor and hold elements in half
// of its registers: while one waits for other blocks, the other loads and stores. Columns are
// combined across all warps of a block, so fewer threads that each hold more elements finish
// earlier.
constexpr std::int64_t row_threads = 512, column_threads = 256;
constexpr std::int64_t block_held_bytes = 1 << 16;
constexpr std::int64_t registers = 1 << 16;  // on a multiprocessor
// Bytes of adjacent columns that a block reads at once: a whole memory transaction if possible.
constexpr std::int64_t column_bytes = 128, least_column_bytes = 32;

/// Elements that a thread holds in registers, in unrolled code. Elements smaller than f32 count as
/// f32.
std::int64_t elements_a_thread(std::int64_t element_bytes, std::int64_t threads) {
  constexpr std::int64_t narrowest = 4;
  return std::max<std::int64_t>(
      block_held_bytes / threads / std::max<std::int64_t>(element_bytes, narrowest), 1);
}

/// Elements of a row that one block can hold in registers. Without clusters: 16 for each of 1024
/// threads, whatever the element size.
std::int64_t elements_a_block(std::int64_t element_bytes, const ir::Target& target) {
  constexpr std::int64_t most = 16384;
  return target.max_cluster > 1 ? elements_a_thread(element_bytes, 1) : most;
}

std::int64_t elements_a_cluster(std::int64_t element_bytes, const ir::Target& target) {
  return std::max(1, target.max_cluster) * elements_a_thread(element_bytes, 1);
}

/// Bytes that are read for each element of the inner loops.
std::int64_t bytes_an_element(const KernelPlan& plan) {
  std::int64_t bytes = 0;
  for (const Instruction* load : element_loads(plan))
    bytes += static_cast<std::int64_t>(size_of(load->dtype));
  return bytes;
}

/// Blocks of a cluster for `elements`: the fewest that can hold them, or more as long as
/// multiprocessors are idle and each block has enough to do.
int choose_cluster(std::int64_t elements, std::int64_t a_thread, std::int64_t threads,
                   std::int64_t groups, const ir::Target& target) {
  std::int64_t blocks = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, ceil_divide(elements, threads * a_thread)))));
  constexpr std::int64_t enough = 8;
  while (blocks * 2 <= target.max_cluster && groups * blocks * 2 <= target.multiprocessors &&
         elements / (threads * blocks * 2) >= enough) {
    blocks *= 2;
  }
  return static_cast<int>(std::min<std::int64_t>(blocks, target.max_cluster));
}

/// Estimated registers of a thread: the elements that it holds; for each of its columns, the value
/// of each reduction and a precomputed divisor (op::Divisor); and working registers. Measured on an
/// H200: a small spill costs less than one more resident block gains.
std::int64_t column_registers(const KernelPlan& plan, std::int64_t element_bytes) {
  constexpr std::int64_t working = 20, register_bytes = 4, divisor_bytes = 12;
  std::int64_t bytes = plan.held * element_bytes;
  for (const Reduction& reduction : plan.reductions)
    bytes += static_cast<std::int64_t>(size_of(reduction.dtype));
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind != Instruction::Kind::apply || instruction.op != ir::Op::divide) continue;
    const Instruction& divisor = plan.body[static_cast<std::size_t>(instruction.arguments[1])];
    if (instruction.element && !divisor.element && divisor.dtype == DType::f32)
      bytes += divisor_bytes;
  }
  return working + ceil_divide(plan.vector * bytes, register_bytes);
}

/// Returns `held`, or 0 if that does not fit into registers: then elements are read again, from the
/// caches.
std::int64_t held_if_fitting(std::int64_t held, int vector, std::int64_t a_thread) {
  return (held - 1) * vector >= a_thread ? 0 : held;
}

/// Maps a row that one block holds to a part of a warp, to a warp, or to as many warps as it needs.
/// In the last case, the row is the only one of its block, so that no row waits at another row's
/// barriers.
void schedule_block_rows(KernelPlan& plan, std::int64_t row) {
  constexpr std::int64_t warp = 32, most_lanes = 1024, held_elements = 16, enough_threads = 1 << 16;
  const std::int64_t rows = std::max<std::int64_t>(known(iterations(plan.outer), 1 << 20), 1);
  const std::int64_t vectors = ceil_divide(row, plan.vector);
  const std::int64_t held = std::max<std::int64_t>(held_elements / plan.vector, 1);
  const std::int64_t busy = std::min<std::int64_t>(ceil_divide(enough_threads, rows), 256);
  const std::int64_t wanted = std::clamp(
      std::max(ceil_divide(vectors, held), std::min(busy, vectors)), std::int64_t{1}, most_lanes);
  const std::int64_t lanes =
      wanted <= warp ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)))
                     : ceil_divide(wanted, warp) * warp;
  plan.threads_per_row = static_cast<int>(lanes);
  plan.threads = static_cast<int>(lanes > warp ? lanes : 256);
  plan.held = ceil_divide(vectors, lanes);
}

void schedule_cluster_rows(KernelPlan& plan, std::int64_t row, const ir::Target& target) {
  const std::int64_t a_thread = elements_a_thread(bytes_an_element(plan), row_threads);
  const std::int64_t rows = known(iterations(plan.outer), 1 << 20);
  plan.threads = plan.threads_per_row = row_threads;
  plan.least_blocks = 2;
  plan.cluster = choose_cluster(row, a_thread, row_threads, rows, target);
  const std::int64_t part = ceil_divide(row, std::int64_t{plan.cluster} * plan.vector);
  plan.held = held_if_fitting(ceil_divide(part, row_threads), plan.vector, a_thread);
}

void schedule_held_columns(KernelPlan& plan, std::int64_t row, const ir::Target& target) {
  plan.mapping = Mapping::columns;
  const Loop& columns = plan.outer.back();
  plan.vector = widest_access(plan, columns, plan.outer.size() > 1, target);
  const std::int64_t bytes = bytes_an_element(plan);
  const std::int64_t loads = std::max<std::int64_t>(1, std::ssize(element_loads(plan)));
  const auto wide = [&](std::int64_t across) { return across * plan.vector * bytes / loads; };
  const std::int64_t lanes = ceil_divide(known(columns.extent, 1 << 20), plan.vector);
  std::int64_t across = 1, threads = column_threads;
  while (across < 32 && across < lanes && wide(across) < column_bytes) across *= 2;
  while (across > 1 && row * across * plan.vector > elements_a_cluster(bytes, target) &&
         wide(across) > least_column_bytes) {
    across /= 2;
  }
  while (across < 32 && across < lanes && row * across <= 2 * threads) across *= 2;
  while (threads > 128 && row * across <= 2 * threads) threads /= 2;
  plan.threads = static_cast<int>(threads);
  plan.threads_per_row = static_cast<int>(across);
  const std::int64_t width = across * plan.vector;
  const std::int64_t groups = ceil_divide(known(iterations(plan.outer), 1 << 20), width);
  const std::int64_t a_thread = elements_a_thread(bytes, column_threads);
  plan.cluster = choose_cluster(row * width, a_thread, threads, groups, target);
  plan.held = held_if_fitting(ceil_divide(ceil_divide(row, plan.cluster), threads / across),
                              plan.vector, a_thread);
  plan.least_blocks = static_cast<int>(
      registers / threads / std::clamp<std::int64_t>(column_registers(plan, bytes), 64, 128));
}

}  // namespace

std::int64_t elements_held(std::int64_t element_bytes, bool contiguous, const ir::Target& target) {
  const std::int64_t width =
      contiguous ? 1 : std::max<std::int64_t>(1, least_column_bytes / element_bytes);
  return std::max(contiguous ? elements_a_block(element_bytes, target) : 0,
                  elements_a_cluster(element_bytes, target) / width);
}

Verdict Normalization::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                              const ir::Target& target) const {
  if (ir::is_scan(graph.op(candidate.node))) return Verdict::no("a reduction kernel cannot scan");
  if (!ir::is_reduction(graph.op(candidate.node)) || candidate.unrolled ||
      !candidate.used_in_inner_loops)
    return within_limits(graph, group, candidate, target);
  const bool blocks = ir::capabilities_of(target).blocks;
  if (!candidate.contiguous && (!blocks || !candidate.columnwise))
    return Verdict::no("its rows are not contiguous");
  const ValueId reduced = graph.operands(candidate.node)[0];
  Dim row = 1, elements = 1;
  for (const std::int64_t axis : graph.attributes(candidate.node).axes)
    row *= graph.shape(reduced)[axis];
  for (const Dim& extent : graph.shape(reduced)) elements *= extent;
  if (!blocks) {
    const std::int64_t rows = known(elements, 1) / std::max<std::int64_t>(known(row, 1), 1);
    if (row.is_constant() && elements.is_constant() && host_parts(rows, row.constant()) > 1) {
      return Verdict::no(std::to_string(rows) + " rows of " + row.to_string() +
                         " elements are reduced in parts");
    }
    return within_limits(graph, group, candidate, target);
  }
  if (only_centres_sums(graph, group, candidate.node))
    return within_limits(graph, group, candidate, target);
  if (!row.is_constant())
    return Verdict::no("a row of " + row.to_string() + " elements may not fit in a block");
  const auto bytes = static_cast<std::int64_t>(size_of(graph.dtype(reduced)));
  const std::int64_t most = elements_held(bytes, candidate.contiguous, target);
  if (row.constant() > most) {
    return Verdict::no((candidate.contiguous ? "a row of " : "a column of ") + row.to_string() +
                       " elements, at most " + std::to_string(most));
  }
  return within_limits(graph, group, candidate, target);
}

bool Normalization::schedule(KernelPlan& plan, const ir::Target& target) const {
  if (plan.inner.empty()) return false;
  if (!ir::capabilities_of(target).blocks) {
    schedule_host_rows(plan, false);
    return true;
  }
  if (plan.stages == 1) return ReductionFamily::schedule(plan, target);
  const Dim row = iterations(plan.inner);
  if (!row.is_constant()) return false;
  const auto fits = [&] {
    return shared_bytes(plan) <= static_cast<std::uint32_t>(target.shared_bytes_per_block);
  };
  if (reads_columnwise(plan, target)) {
    schedule_held_columns(plan, row.constant(), target);
    return fits();
  }
  plan.mapping = Mapping::rows;
  plan.vector = widest_access(plan, plan.inner.back(), plan.inner.size() > 1, target);
  if (row.constant() <= elements_a_block(bytes_an_element(plan), target)) {
    schedule_block_rows(plan, row.constant());
  } else {
    schedule_cluster_rows(plan, row.constant(), target);
  }
  return fits();
}

}  // namespace heddle::passes
