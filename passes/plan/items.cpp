#include "passes/plan/items.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "heddle/error.h"

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"
#include "passes/plan/item_vectors.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

constexpr int block_threads = 128;                   // wanted in a block
constexpr std::int64_t most_block_bytes = 48 << 10;  // so that blocks share a multiprocessor

/// How many elements apart neighbouring iterations of the loop access an array. An unknown distance
/// counts as long, and so does 0: the accesses do not show in which order the loops should run.
std::int64_t distance(const KernelPlan& plan, const Index& address, const Loop& loop) {
  constexpr std::int64_t farthest = std::numeric_limits<std::int64_t>::max();
  const std::optional<Dim> step = step_along(plan, address, loop);
  if (!step || !step->is_constant() || *step == Dim(0)) return farthest;
  return std::abs(step->constant());
}

/// The instructions with which a phase loads.
std::vector<int> loads_of(const KernelPlan& plan, const ItemPhase& phase) {
  std::vector<int> roots;
  for (const int store : phase.stores) {
    for (const int need : needs_of(plan.stores[store])) roots.push_back(need);
  }
  std::vector<int> loads = needed(plan, roots, false);
  std::erase_if(loads, [&](int i) { return plan.body[i].kind != Instruction::Kind::load; });
  return loads;
}

/// Whether more bytes of the phase are closer together along neighbouring items than within an
/// item.
bool runs_across(const KernelPlan& plan, const ItemPhase& phase) {
  if (phase.batch.empty()) return false;
  std::int64_t votes = 0;
  const auto count = [&](int operand, const Index& address) {
    const KernelOperand& array = plan.operands[operand];
    if (array.in_item()) return;
    const auto bytes = static_cast<std::int64_t>(size_of(array.dtype));
    std::int64_t within = std::numeric_limits<std::int64_t>::max();
    for (const Loop& loop : phase.loops) within = std::min(within, distance(plan, address, loop));
    const std::int64_t across = distance(plan, address, phase.batch.back());
    if (within != across) votes += across < within ? bytes : -bytes;
  };
  for (const int store : phase.stores)
    count(plan.stores[store].operand, plan.stores[store].address);
  for (const int load : loads_of(plan, phase))
    count(plan.body[load].operand, plan.body[load].address);
  return votes > 0;
}

/// The widest element that the kernel reads from memory or writes there.
std::int64_t element_bytes(const KernelPlan& plan) {
  std::size_t widest = 1;
  for (const KernelOperand& operand : plan.operands) {
    if (!operand.in_item()) widest = std::max(widest, size_of(operand.dtype));
  }
  return static_cast<std::int64_t>(widest);
}

/// The narrowest element that a phase across items reads from memory or writes there.
std::int64_t narrowest_across(const KernelPlan& plan) {
  std::size_t narrowest = 16;
  const auto count = [&](int operand) {
    const KernelOperand& array = plan.operands[operand];
    if (!array.in_item()) narrowest = std::min(narrowest, size_of(array.dtype));
  };
  for (const ItemPhase& phase : plan.items->phases) {
    if (!phase.across) continue;
    for (const int store : phase.stores) count(plan.stores[store].operand);
    for (const int load : loads_of(plan, phase)) count(plan.body[load].operand);
  }
  return static_cast<std::int64_t>(narrowest);
}

/// Whether the address is the number of the iteration, in C order.
bool counts_iterations(const KernelPlan& plan, const Index& address,
                       const std::vector<Loop>& loops) {
  Dim stride = 1;
  std::size_t terms = 0;
  for (std::size_t i = loops.size(); i-- > 0;) {
    if (loops[i].extent == Dim(1)) continue;
    if (!(plan.space->coefficient(address, loops[i].atom) == stride)) return false;
    stride = stride * loops[i].extent;
    ++terms;
  }
  return address.offset == Dim(0) && address.terms.size() == terms;
}

/// The loads of a phase from arrays in the item's memory.
std::vector<int> loads_in_item(const KernelPlan& plan, const ItemPhase& phase) {
  std::vector<int> loads = loads_of(plan, phase);
  std::erase_if(loads, [&](int i) { return !plan.operands[plan.body[i].operand].in_item(); });
  return loads;
}

/// Whether the phase makes each element that the routine takes of operand k out of other memory.
bool makes_elements(const KernelPlan& plan, const ItemPhase& phase, const ItemRoutine& routine,
                    std::size_t k) {
  if (phase.routine || phase.stores.size() != 1) return false;
  const Store& store = plan.stores[phase.stores[0]];
  return store.operand == routine.arrays[k] && loads_in_item(plan, phase).empty() &&
         counts_elements(plan, store.address, phase.loops, routine.takes[k]);
}

/// Whether the phase uses each element of the routine's result, and stores to other memory. Within
/// items, neighbours that come at once are stored at once: not in parts of sectors.
bool uses_elements(const KernelPlan& plan, const ItemPhase& phase, const ItemRoutine& routine) {
  if (phase.routine) return false;
  if (!phase.across && routine.makes.at_once > access_width(plan, phase)) return false;
  for (const int store : phase.stores) {
    if (plan.operands[plan.stores[store].operand].in_item()) return false;
  }
  const std::vector<int> loads = loads_in_item(plan, phase);
  return loads.size() == 1 && plan.body[loads[0]].operand == routine.arrays.back() &&
         !plan.body[loads[0]].guarded &&
         counts_elements(plan, plan.body[loads[0]].address, phase.loops, routine.makes);
}

/// Phases whose threads are those of the routine's stages: neighbouring threads should access
/// neighbouring elements.
void choose_direct_phases(KernelPlan& plan) {
  std::vector<ItemPhase>& phases = plan.items->phases;
  const bool interleaved = plan.items->interleaved;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (!phases[i].routine || phases[i].routine->takes.empty()) continue;
    const ItemRoutine& routine = *phases[i].routine;
    for (std::size_t k = 0; k < routine.takes.size(); ++k) {
      const std::optional<std::size_t> before = phase_before(routine, i, k);
      if (before && phases[*before].across == interleaved)
        phases[*before].direct |= makes_elements(plan, phases[*before], routine, k);
    }
    // A result that several phases read is stored.
    if (i + 2 == phases.size() && phases[i + 1].across == interleaved)
      phases[i + 1].direct = uses_elements(plan, phases[i + 1], routine);
  }
}

/// Whether one phase runs across items, the other within, and the routine can call both: it deals
/// elements to threads anew for each of its stages.
bool turns_between_phases(const KernelPlan& plan) {
  const std::vector<ItemPhase>& phases = plan.items->phases;
  if (phases.size() != 3 || !phases[1].routine || !phases[1].routine->deals_anew) return false;
  return phases[0].across != phases[2].across &&
         makes_elements(plan, phases[0], *phases[1].routine, 0) &&
         uses_elements(plan, phases[2], *phases[1].routine);
}

/// Whether all routines call functions, and all phases of elements run across items. A phase within
/// items, beside one across them, would meet with bank conflicts.
bool all_run_across(const Items& items) {
  return std::ranges::all_of(items.phases, [](const ItemPhase& phase) {
    return phase.routine ? !phase.routine->takes.empty() : phase.across;
  });
}

/// Which threads work on an item, and which phases their routines call.
void choose_threads(KernelPlan& plan, const ItemThreads& threads) {
  constexpr std::int64_t line_bytes = 128;
  Items& items = *plan.items;
  const bool fills_line = threads.count * element_bytes(plan) >= line_bytes;
  if (fills_line && turns_between_phases(plan)) {
    items.interleaved = items.phases[2].across;
    items.phases[0].direct = items.phases[2].direct = true;
    return;
  }
  items.interleaved = all_run_across(items);
  if (items.interleaved || fills_line) choose_direct_phases(plan);
}

/// About `count` items that are neighbours in memory: a divisor of the batch's last extent, if
/// there is one from half of it to three halves. Then the items of a step differ in that one index
/// only.
std::int64_t items_of_a_row(const Items& items, std::int64_t count) {
  const auto phase = std::ranges::find_if(items.phases, &ItemPhase::across);
  if (phase == items.phases.end() || phase->batch.size() < 2) return count;
  const Dim& row = phase->batch.back().extent;
  for (std::int64_t apart = 0; 2 * apart <= count; ++apart) {
    for (const std::int64_t divisor : {count - apart, count + apart}) {
      if (row.divisible_by(divisor)) return divisor;
    }
  }
  return count;
}

/// How many neighbouring items a block takes if phases run across items: they fill as much memory
/// as is moved at once. On a GPU that is a line, but at least three blocks should share a
/// multiprocessor. Loads of less than two sectors take longer; stores wait for each other in the
/// second cache.
std::int64_t items_across(const KernelPlan& plan, const ir::Target& target) {
  constexpr std::int64_t line_bytes = 128, half_line = 64, sector = 32;
  const std::int64_t element = element_bytes(plan);
  const Items& items = *plan.items;
  if (!ir::capabilities_of(target).blocks)
    return items_of_a_row(items, line_bytes / narrowest_across(plan));
  if (!items.phases.front().direct || !items.phases.back().direct) return half_line / element;
  const std::int64_t least = (items.phases.front().across ? half_line : sector) / element;
  std::int64_t count = line_bytes / element;
  while (count > least && count * items.bytes > target.shared_bytes_per_block / 3) count /= 2;
  // A few items should occupy all multiprocessors.
  const auto leaves_half_idle = [&] {
    return items.count.is_constant() &&
           2 * items.count.constant() <= count * target.multiprocessors;
  };
  while (count > sector / element && leaves_half_idle()) count /= 2;
  return count;
}

/// The bytes of an item such that threads on neighbouring items, and a few neighbours in each,
/// access different banks: as many threads as get their elements at once.
std::int64_t spread_bytes(const Items& items, std::int64_t element_bytes) {
  constexpr std::int64_t all = 128;  // of all banks
  const std::int64_t within =
      std::max<std::int64_t>(all / element_bytes / items.per_block, 1) * element_bytes;
  return items.bytes + ((within - items.bytes) % all + all) % all;
}

/// The blocks that registers should suffice for on a multiprocessor: as many as its shared memory
/// does, up to the threads that the routines want there.
int least_blocks(const KernelPlan& plan, const ItemThreads& threads, const ir::Target& target) {
  const std::int64_t bytes = plan.items->bytes * plan.items->per_block;
  const std::int64_t fitting = target.shared_bytes_per_block / std::max<std::int64_t>(bytes, 1);
  return static_cast<int>(std::clamp<std::int64_t>(threads.resident / plan.threads, 1,
                                                   std::max<std::int64_t>(fitting, 1)));
}

/// An item whose results several blocks make: they have no memory in common.
void schedule_parts(KernelPlan& plan, ItemThreads threads, const ir::Target& target) {
  std::vector<ItemPhase>& phases = plan.items->phases;
  const std::size_t at = phases.size() - 2;
  bool called = phases[at].routine && phases[at].routine->takes.size() == at &&
                uses_elements(plan, phases[at + 1], *phases[at].routine);
  for (std::size_t k = 0; called && k < at; ++k)
    called = makes_elements(plan, phases[k], *phases[at].routine, k);
  if (!called)
    throw InternalError("blocks share an item whose elements do not come from functions");
  for (ItemPhase& phase : phases) phase.direct = !phase.routine;
  plan.threads = plan.threads_per_row = threads.count;
  plan.least_blocks = least_blocks(plan, threads, target);
}

}  // namespace

bool counts_elements(const KernelPlan& plan, const Index& address, const std::vector<Loop>& loops,
                     const PassedElements& elements) {
  return iterations(loops) == Dim(elements.count) &&
         (elements.at_once == 1 || loops.back().extent.divisible_by(elements.at_once)) &&
         counts_iterations(plan, address, loops);
}

std::optional<std::size_t> phase_before(const ItemRoutine& routine, std::size_t at, std::size_t k) {
  const std::size_t operands = routine.takes.size();
  return at + k < operands ? std::nullopt : std::optional(at + k - operands);
}

int vector_of_phase(const KernelPlan& plan, const ItemPhase& phase) {
  const bool blocks = plan.threads > 1;
  return blocks && !phase.direct ? access_width(plan, phase) : 1;
}

int access_width(const KernelPlan& plan, const ItemPhase& phase) {
  constexpr std::size_t access_bytes = 16;
  if (phase.routine || phase.across || phase.loops.empty()) return 1;
  const Loop& last = phase.loops.back();
  int width = static_cast<int>(access_bytes);
  std::int64_t covered = 0;
  const auto count = [&](const KernelOperand& array, int widest) {
    width = std::min({width, widest, static_cast<int>(access_bytes / size_of(array.dtype))});
    ++covered;
  };
  for (const int i : phase.stores) {
    const Store& store = plan.stores[i];
    const KernelOperand& array = plan.operands[store.operand];
    if (store.combine || store.by_value || store.guard >= 0) return 1;
    if (!array.in_item()) count(array, vector_width(plan, array, store.address, last, width));
  }
  for (const int i : loads_of(plan, phase)) {
    const Instruction& load = plan.body[i];
    const KernelOperand& array = plan.operands[load.operand];
    if (array.in_item() || step_along(plan, load, last) == Dim(0)) continue;
    if (!load.arguments.empty()) return 1;
    count(array, vector_width(plan, load, last, width));
  }
  while (width > 1 && !last.extent.divisible_by(width)) width /= 2;
  return covered > 0 ? std::max(width, 1) : 1;
}

std::int64_t most_item_bytes(const ir::Target& target) {
  constexpr std::int64_t host_stack = 192 << 10;
  if (!ir::capabilities_of(target).blocks) return host_stack;
  return std::int64_t{target.shared_bytes_per_block} * 5 / 8;
}

void schedule_items(KernelPlan& plan, ItemThreads threads, const ir::Target& target) {
  Items& items = *plan.items;
  plan.mapping = Mapping::items;
  plan.family = "items";
  if (items.parts > 1) {
    schedule_parts(plan, threads, target);
    return;
  }
  const bool blocks = ir::capabilities_of(target).blocks;
  const bool alone = blocks && 2 * items.bytes > most_item_bytes(target);  // in its block
  bool across = false;
  for (ItemPhase& phase : items.phases) {
    phase.across = !alone && runs_across(plan, phase);
    across |= phase.across;
  }
  if (blocks) choose_threads(plan, threads);
  const std::int64_t budget =
      across || !blocks ? most_item_bytes(target) : std::max(most_block_bytes, items.bytes);
  // With few items in a block, more blocks share a multiprocessor, and some load while others
  // compute.
  std::int64_t count = across ? items_across(plan, target) : 1;
  if (blocks) count = std::max<std::int64_t>(count, block_threads / threads.count);
  count = std::min(count, budget / items.bytes);
  if (blocks) count = std::min<std::int64_t>(count, target.max_threads_per_block / threads.count);
  if (items.count.is_constant()) count = std::min(count, items.count.constant());
  const std::int64_t least = blocks ? threads.least_items() : 1;
  items.per_block = static_cast<int>(std::max(count / least * least, least));
  if (items.interleaved) {
    const std::int64_t bytes = spread_bytes(items, element_bytes(plan));
    if (bytes * items.per_block <= budget) items.bytes = bytes;
  }
  items.on_stack = items.bytes * items.per_block <= most_item_bytes(target);
  plan.threads_per_row = blocks ? threads.count : 1;
  plan.threads = blocks ? threads.count * items.per_block : 1;
  if (blocks) plan.least_blocks = least_blocks(plan, threads, target);
}

}  // namespace heddle::passes
