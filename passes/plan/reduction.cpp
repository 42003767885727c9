#include <algorithm>
#include <bit>

#include "ir/types/capabilities.h"
#include "ir/types/scalar.h"
#include "passes/groups/per_element.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"
#include "passes/plan/launch.h"
#include "passes/plan/skewed_rows.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

/// Several blocks for each multiprocessor.
std::int64_t wanted_blocks(const ir::Target& target) {
  return std::int64_t{4} * std::max(1, target.multiprocessors);
}

/// The number of parts of the inner loops that gives each multiprocessor several blocks with enough
/// work. Symbolic outer extents are assumed to give enough blocks.
int choose_split(const KernelPlan& plan, std::int64_t blocks, std::int64_t steps,
                 const ir::Target& target) {
  if (plan.stages > 1 || !iterations(plan.outer).is_constant()) return 1;
  const std::int64_t wanted = wanted_blocks(target);
  constexpr std::int64_t least_steps = 8;
  if (blocks * 2 > wanted || steps < 2 * least_steps) return 1;
  return static_cast<int>(
      std::min(ceil_divide(wanted, std::max<std::int64_t>(blocks, 1)), steps / least_steps));
}

/// Bytes of the cache lines in which a GPU reads memory fastest.
constexpr std::int64_t line_bytes = 128;

/// The widest element that the plan reads; 0 if it reads none.
std::int64_t widest_load(const KernelPlan& plan) {
  std::int64_t bytes = 0;
  for (const Instruction* load : element_loads(plan))
    bytes = std::max(bytes, static_cast<std::int64_t>(size_of(load->dtype)));
  return bytes;
}

/// The blocks of a cluster that divide a reduction of `steps` steps, of which there are `blocks`.
/// Their number comes close to the wanted one. 1 if it would be far from it: much work then needs
/// more blocks than clusters have, and a second kernel.
int cluster_of(std::int64_t blocks, std::int64_t steps, const ir::Target& target) {
  constexpr std::int64_t least_steps = 4, most_steps = 32;
  const int most = std::min(target.max_cluster, 8);  // larger ones find no place on some GPUs
  const std::int64_t wanted = wanted_blocks(target);
  int cluster = 1;
  while (cluster * 2 <= most && blocks * cluster * 2 <= wanted &&
         steps >= 2 * least_steps * cluster) {
    cluster *= 2;
  }
  const bool fills = blocks * cluster * 4 >= wanted * 3;
  return fills || steps <= most_steps * cluster ? cluster : 1;
}

/// Divides columns among clusters. Of the shapes with the most blocks, up to the wanted number, it
/// takes the widest, and none narrower than a cache line. False if there is none.
bool cluster_columns(KernelPlan& plan, std::int64_t outer, std::int64_t inner,
                     const ir::Target& target) {
  const std::int64_t line = line_bytes / std::max<std::int64_t>(widest_load(plan) * plan.vector, 1);
  constexpr std::int64_t most_bytes = 48 << 10;  // exchanged in shared memory
  std::int64_t most_blocks = 0;
  KernelPlan shape = plan;
  for (int across = plan.threads_per_row; across > 0; across /= 2) {
    const std::int64_t blocks = ceil_divide(outer, std::int64_t{across} * plan.vector);
    shape.threads_per_row = across;
    shape.cluster = cluster_of(blocks, ceil_divide(inner * across, plan.threads), target);
    const bool fits = shape.cluster > 1 && cluster_memory(shape).bytes <= most_bytes;
    if (fits && blocks * shape.cluster > most_blocks) {
      most_blocks = blocks * shape.cluster;
      plan.threads_per_row = across;
      plan.cluster = shape.cluster;
    }
    if (across <= line) break;
  }
  return most_blocks > 0;
}

void schedule_columns(KernelPlan& plan, const ir::Target& target) {
  plan.mapping = Mapping::columns;
  const Loop& columns = plan.outer.back();
  plan.vector = widest_access(plan, columns, plan.outer.size() > 1, target);
  const std::int64_t lanes = ceil_divide(known(columns.extent, 1 << 20), plan.vector);
  plan.threads = 256;
  plan.threads_per_row = static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(lanes, 32))));
  const std::int64_t outer = known(iterations(plan.outer), 1 << 20);
  const std::int64_t blocks = ceil_divide(outer, std::int64_t{plan.threads_per_row} * plan.vector);
  const std::int64_t steps =
      known(iterations(plan.inner), 1 << 20) / (plan.threads / plan.threads_per_row);
  const int split = choose_split(plan, blocks, steps, target);
  const std::int64_t inner = known(iterations(plan.inner), 1 << 20);
  if (split > 1 && !cluster_columns(plan, outer, inner, target)) plan.split = split;
}

/// The threads that share a row: more if it is long for a thread, or if there are too few rows for
/// all threads.
template <class IsLong>
int lanes_of_row(std::int64_t row, std::int64_t rows, int vector, const IsLong& is_long) {
  constexpr std::int64_t enough_threads = 1 << 17;
  int lanes = 1;
  while (lanes < 256 && std::int64_t{lanes} * vector < row &&
         (is_long(lanes) || rows * lanes < enough_threads)) {
    lanes *= 2;
  }
  return lanes;
}

void schedule_rows(KernelPlan& plan, const ir::Target& target) {
  plan.mapping = Mapping::rows;
  plan.vector = widest_access(plan, plan.inner.back(), plan.inner.size() > 1, target);
  skew_rows(plan, target);
  const std::int64_t rows = known(iterations(plan.outer), 1 << 20);
  const std::int64_t row = known(iterations(plan.inner), 1 << 20);
  const std::int64_t bytes = widest_load(plan) * plan.vector;
  // Neighbouring threads read whole cache lines together. A thread takes up to two vectors, or
  // eight where a row has a warp or more, or no aligned vectors. A row that is computed, not read,
  // may be one thread's, since neighbouring threads read the same memory.
  const bool aligned = plan.vector > 1 && plan.skewed < 0;
  const int lanes = lanes_of_row(row, rows, plan.vector, [&](std::int64_t threads) {
    if (bytes == 0) return false;
    const int most = threads < 32 && aligned ? 2 : 8;
    return (aligned && threads * bytes < line_bytes) || row > most * threads * plan.vector;
  });
  plan.threads_per_row = lanes;
  plan.threads = 256;
  const std::int64_t blocks = ceil_divide(rows * lanes, plan.threads);
  const std::int64_t steps = row / (std::int64_t{lanes} * plan.vector);
  const int split = choose_split(plan, blocks, steps, target);
  if (split > 1 && lanes == plan.threads) plan.cluster = cluster_of(blocks, steps, target);
  if (plan.cluster == 1) plan.split = split;
}

/// Whether neighbouring iterations of the last outer loop read neighbouring elements.
bool runs_across(const KernelPlan& plan) {
  if (plan.outer.empty()) return false;
  const Loop& last = plan.outer.back();
  const std::vector<const Instruction*> loads = element_loads(plan);
  return std::ranges::any_of(loads, [&](const Instruction* load) {
    const std::optional<Dim> step = step_along(plan, *load, last);
    return step && *step == Dim(1);
  });
}

/// A thread takes four elements or more of a long segment, to load them at once, and fewer of a
/// short one, so that its neighbours load neighbouring elements.
int lanes_of_segment(std::int64_t row, std::int64_t rows) {
  constexpr int few = 8, most = 32;
  int lanes = lanes_of_row(row, rows, 1, [&](std::int64_t threads) { return row > 8 * threads; });
  while (lanes < most && std::int64_t{lanes} * (lanes < few ? 2 : 4) < row) lanes *= 2;
  return lanes;
}

/// Rows are segments, whose lengths are not known before the kernel runs.
void schedule_segments(KernelPlan& plan, const ir::Target& target) {
  const bool across = runs_across(plan);
  const bool blocks = ir::capabilities_of(target).blocks;
  plan.mapping = across && !blocks ? Mapping::columns : Mapping::rows;
  plan.threads = plan.threads_per_row = 1;
  if (!blocks) return;
  plan.threads = 256;
  const std::int64_t rows = known(iterations(plan.outer), 1 << 20);
  const std::int64_t row = row_length(plan).constant();
  plan.threads_per_row = across ? 1 : lanes_of_segment(row, rows);
  const std::int64_t grid = ceil_divide(rows * plan.threads_per_row, plan.threads);
  plan.split = choose_split(plan, grid, row / plan.threads_per_row, target);
  if (across || plan.threads_per_row == plan.threads) return;
  constexpr std::int64_t least = 256, steps = 32, means = 8;
  plan.long_row =
      std::max({least, steps * plan.threads_per_row, means * ceil_divide(row, plan.split)});
}

// Limits for the host. They do not depend on the number of cores.
constexpr std::int64_t enough_units = 64, most_parts = 256;

}  // namespace

std::int64_t host_parts(std::int64_t units, std::int64_t row, std::int64_t part) {
  if (units >= enough_units || row < 2 * part) return 1;
  const auto least = static_cast<std::uint64_t>(std::max(part, ceil_divide(row, most_parts)));
  return ceil_divide(row, static_cast<std::int64_t>(std::bit_ceil(least)));
}

namespace {

/// The least rows in a part of columns: whole blocks, for reductions that combine in row order.
std::int64_t least_part(const KernelPlan& plan) {
  std::int64_t least = 64;
  for (const Reduction& reduction : plan.reductions) {
    if (order_of(reduction) != CombineOrder::rows) continue;
    const auto bytes = static_cast<int>(state_bytes(reduction));
    least = std::max<std::int64_t>(least, heddle_scalar::reduce::block_length(bytes));
  }
  return least;
}

}  // namespace

void schedule_host_rows(KernelPlan& plan, bool columnwise) {
  plan.mapping = columnwise ? Mapping::columns : Mapping::rows;
  plan.threads = plan.threads_per_row = 1;
  std::int64_t width = 1;
  std::int64_t part = std::min<std::int64_t>(1 << 16, 2 * host_worthwhile(plan));
  // Each part stores a state for each of these columns.
  if (columnwise) {
    width = host_columns(plan);
    width = std::min(known(plan.outer.back().extent, width), width);
    part = std::max<std::int64_t>((1 << 18) / width, least_part(plan));
  }
  const std::int64_t units = known(iterations(plan.outer), width * enough_units) / width;
  if (plan.stages > 1) return;
  const Dim inner = iterations(plan.inner);
  if (inner.is_constant()) {
    plan.split = static_cast<int>(host_parts(units, inner.constant(), part));
  } else if (units < enough_units) {
    plan.split = most_parts;
    plan.least_part = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(part)));
  }
}

Verdict ReductionFamily::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                                const ir::Target& target) const {
  const ir::Op op = graph.op(candidate.node);
  if (ir::is_scan(op)) return Verdict::no("a reduction kernel cannot scan");
  if (ir::is_reduction(op) && !candidate.unrolled && candidate.used_in_inner_loops &&
      !group.members.empty()) {
    return Verdict::no("its result is used inside the rows that it reduces");
  }
  return within_limits(graph, group, candidate, target);
}

bool ReductionFamily::schedule(KernelPlan& plan, const ir::Target& target) const {
  if (plan.stages != 1 || plan.inner.empty()) return false;
  if (segmented(plan) != nullptr) {
    schedule_segments(plan, target);
    return true;
  }
  const bool columnwise = reads_columnwise(plan, target);
  if (!ir::capabilities_of(target).blocks) {
    schedule_host_rows(plan, columnwise);
  } else if (columnwise) {
    schedule_columns(plan, target);
  } else {
    schedule_rows(plan, target);
  }
  return true;
}

Verdict Generic::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                        const ir::Target&) const {
  if (ir::is_of_call(graph.op(candidate.node)) && !is_element_call(graph, candidate.node))
    return Verdict::no(std::string(graph.op_name(candidate.node)) + " needs a step of its own");
  if (!group.members.empty()) return Verdict::no("a generic kernel runs 1 operation");
  return {};
}

bool Generic::schedule(KernelPlan& plan, const ir::Target& target) const {
  if (scans(plan)) {
    schedule_scan(plan, target);
    return true;
  }
  plan.mapping = plan.reductions.empty() ? Mapping::elements : Mapping::rows;
  return true;
}

std::span<const Family* const> families() {
  // Never destroyed, because programs may be compiled while the process exits.
  static const Family* const all[] = {new Transpose,       new Pointwise,     new Piecewise,
                                      new Scatter,         new Steps,         new Scan,
                                      new ReductionFamily, new Normalization, new Generic};
  return all;
}

}  // namespace heddle::passes
