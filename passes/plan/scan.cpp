#include <algorithm>
#include <bit>

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"
#include "passes/plan/launch.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

constexpr int most_scans = 4;           // limit on scans whose states a thread holds at once
constexpr std::int64_t narrowest = 16;  // fewest columns for a columns kernel

/// Whether neighbouring outer iterations, and not neighbouring scan elements, are contiguous in
/// memory.
bool is_columnwise(const KernelPlan& plan) {
  if (plan.outer.empty() || known(plan.outer.back().extent, narrowest) < narrowest) return false;
  std::int64_t votes = 0;
  const auto count = [&](const Index& address, int operand) {
    const auto bytes = static_cast<std::int64_t>(size_of(plan.operands[operand].dtype));
    if (runs_along(plan, address, plan.inner.back())) votes -= bytes;
    if (runs_along(plan, address, plan.outer.back())) votes += bytes;
  };
  for (const Instruction* load : element_loads(plan)) count(load->address, load->operand);
  for (const Store& store : plan.stores) count(store.address, store.operand);
  return votes > 0;
}

/// The number of vectors whose states fit into `registers` registers of a thread.
int most_held(const KernelPlan& plan, int registers) {
  std::size_t words = 0;
  for (const Reduction& reduction : plan.reductions)
    words += reduction.scan ? (state_bytes(reduction) + 3) / 4 : 0;
  const auto wanted = registers / static_cast<int>(words) / plan.vector;
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(wanted))), 1, 8);
}

void schedule_columns(KernelPlan& plan, const ir::Target& target) {
  plan.mapping = Mapping::scan_columns;
  const Loop& columns = plan.outer.back();
  plan.vector = widest_access(plan, columns, plan.outer.size() > 1, target);
  plan.held = most_held(plan, 32);
  plan.threads = 256;
  const std::int64_t length = known(iterations(plan.inner), 1 << 20);
  const std::int64_t lanes = ceil_divide(known(columns.extent, 1 << 20), plan.vector);
  // As many threads along the scan as needed, provided that the threads of a warp still access
  // neighbouring memory.
  int across = 256;
  while (across > 32 && std::int64_t{256} / across * plan.held < length) across /= 2;
  while (across > 1 && across / 2 >= lanes) across /= 2;
  plan.threads_per_row = across;
  const std::int64_t tile = std::int64_t{256} / across * plan.held;
  plan.look_back = !iterations(plan.inner).is_constant() || length > tile;
}

void schedule_rows(KernelPlan& plan, const ir::Target& target) {
  plan.mapping = Mapping::scan_rows;
  plan.vector = widest_access(plan, plan.inner.back(), false, target);
  constexpr int row_registers = 16;
  const int most = most_held(plan, row_registers);
  const std::int64_t rows = known(iterations(plan.outer), 1 << 20);
  const std::int64_t row = known(iterations(plan.inner), 1 << 30);
  // More threads in a block hold longer rows. Used only if there are enough rows for all
  // multiprocessors.
  const bool reduces = !std::ranges::all_of(plan.reductions, &Reduction::scan);
  const bool many = reduces || rows >= 2 * std::max(1, target.multiprocessors);
  const int most_lanes = many ? 1024 : 256;
  // Rows that are reduced as well are held whole, however wide the states are.
  plan.look_back = !reduces && row > std::int64_t{most_lanes} * plan.vector * most;
  int lanes = plan.look_back ? 256 : 1;
  constexpr std::int64_t enough_threads = 1 << 17;
  constexpr int least_lanes = 8;  // whose vectors fill a memory line
  while (!plan.look_back && lanes < most_lanes && std::int64_t{lanes} * plan.vector < row &&
         (lanes < least_lanes || std::int64_t{lanes} * plan.vector * most < row ||
          (lanes < 256 && rows * lanes < enough_threads))) {
    lanes *= 2;
  }
  plan.threads_per_row = lanes;
  plan.threads = std::max(lanes, 256);
  // Larger tiles wait less often for earlier tiles.
  const std::int64_t all = ceil_divide(row, std::int64_t{lanes} * plan.vector);
  plan.held = plan.look_back ? most_held(plan, 2 * row_registers)
              : reduces      ? all
                             : std::min<std::int64_t>(all, most);
}

/// A thread takes whole rows or runs of columns. If they are few and long, they are split.
void schedule_host(KernelPlan& plan) {
  plan.mapping = is_columnwise(plan) ? Mapping::scan_columns : Mapping::scan_rows;
  plan.threads = plan.threads_per_row = 1;
  constexpr std::int64_t part = 1 << 16, enough_units = 64;
  const std::int64_t outer = known(iterations(plan.outer), enough_units);
  const std::int64_t inner = known(iterations(plan.inner), 0);
  if (outer < enough_units && inner >= 2 * part) {
    plan.split = static_cast<int>(std::min<std::int64_t>(inner / part, 256));
  }
}

}  // namespace

bool scans(const KernelPlan& plan) {
  return std::ranges::any_of(plan.reductions, &Reduction::scan);
}

Verdict Scan::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                     const ir::Target& target) const {
  const ir::Op op = graph.op(candidate.node);
  if (ir::is_reduction(op) && !candidate.unrolled) {
    // What is reduced may turn out to be a scan of the same rows.
    if (!ir::capabilities_of(target).blocks || !group.scanned.empty())
      return Verdict::no("a scan kernel cannot reduce");
    if (candidate.segments || (candidate.used_in_inner_loops && !group.members.empty()))
      return Verdict::no("its result is used inside the rows that it reduces");
  }
  if (ir::is_scan(op)) {
    const auto scans = std::ranges::count_if(
        group.members, [&](ValueId member) { return ir::is_scan(graph.op(member)); });
    if (scans >= most_scans) {
      return Verdict::no(std::to_string(scans + 1) + " scans, at most " +
                         std::to_string(most_scans));
    }
  }
  return within_limits(graph, group, candidate, target);
}

bool Scan::schedule(KernelPlan& plan, const ir::Target& target) const {
  if (!scans(plan)) return false;
  schedule_scan(plan, target);
  return true;
}

void schedule_scan(KernelPlan& plan, const ir::Target& target) {
  if (!ir::capabilities_of(target).blocks) {
    schedule_host(plan);
  } else if (std::ranges::all_of(plan.reductions, &Reduction::scan) && is_columnwise(plan)) {
    schedule_columns(plan, target);
  } else {
    schedule_rows(plan, target);
  }
}

}  // namespace heddle::passes
