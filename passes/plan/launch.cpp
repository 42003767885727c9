#include "passes/plan/launch.h"

#include <algorithm>
#include <bit>
#include <set>

#include "ir/types/capabilities.h"
#include "ir/types/constant.h"
#include "ir/types/scalar.h"
#include "passes/plan/analyze.h"
#include "passes/plan/attention.h"

namespace heddle::passes {

namespace {

/// Collects symbols in the order in which the kernel's text mentions them.
class Symbols {
 public:
  explicit Symbols(const IndexSpace& space) : space_(space) {}

  void add(const Dim& dim) { dim.collect_symbols(found_); }
  void add(const Index& index) {
    add(index.offset);
    for (const IndexTerm& term : index.terms) {
      add(term.coefficient);
      const Atom& atom = space_.atom(term.atom);
      if (atom.kind == Atom::Kind::loop || !seen_.insert(term.atom).second) continue;
      add(atom.numerator);
      add(atom.divisor);
    }
  }
  std::vector<ir::SymbolId> take() { return std::move(found_); }

 private:
  const IndexSpace& space_;
  std::vector<ir::SymbolId> found_;
  std::set<AtomId> seen_;
};

std::vector<GridExtent> tile_grid(const KernelPlan& plan) {
  return {{plan.outer.back().extent, plan.tile_last},
          {plan.outer[plan.tile_loop].extent, plan.tile_across},
          {iterations(untiled_loops(plan)), 1}};
}

/// An upper bound of `bytes` times the number of blocks; exact if all extents are constant.
Dim bytes_of_blocks(std::vector<GridExtent> grid, std::int64_t bytes) {
  // ceil(elements / per_block) is not a polynomial. So the first symbolic extent counts ceil(total
  // / per_block) bytes for each of its elements; further ones count as if per_block were 1.
  std::ranges::stable_sort(grid, std::ranges::greater(), [](const GridExtent& extent) {
    return std::pair(extent.elements.is_constant(), extent.per_block);
  });
  Dim total = bytes;
  for (const GridExtent& extent : grid) {
    const std::int64_t per_block = extent.per_block;
    if (extent.elements.is_constant()) {
      total *= Dim((extent.elements.constant() + per_block - 1) / per_block);
    } else if (total.is_constant() && per_block > 1) {
      total = extent.elements * Dim((total.constant() + per_block - 1) / per_block) + total;
    } else {
      total *= extent.elements;
    }
  }
  return total;
}

std::vector<GridExtent> scan_grid(const KernelPlan& plan) {
  std::vector<GridExtent> grid;
  if (plan.mapping == Mapping::scan_rows) {
    grid = {{iterations(plan.outer), plan.threads / plan.threads_per_row}};
  } else {
    const std::vector<Loop> rest(plan.outer.begin(), plan.outer.end() - 1);
    grid = {{plan.outer.back().extent, std::int64_t{plan.threads_per_row} * plan.vector},
            {iterations(rest), 1}};
  }
  if (plan.look_back) grid.push_back({iterations(plan.inner), scan_tile(plan)});
  return grid;
}

/// Size of `width` states that are exchanged together, rounded up to 4 bytes.
std::size_t parcel_bytes(std::size_t state, std::size_t width) {
  return (state * width + 3) / 4 * 4;
}

/// Shared memory for combining the states of a block's threads, for one reduction.
std::size_t reduction_shared_bytes(const KernelPlan& plan, std::size_t state) {
  const auto threads = static_cast<std::size_t>(plan.threads);
  const auto across = static_cast<std::size_t>(plan.threads_per_row);
  if (plan.mapping == Mapping::rows || plan.mapping == Mapping::scan_rows) {
    if (plan.long_row > 0) return threads / 32 * std::max(state, sizeof(int));
    return across > 32 ? threads / 32 * state : 0;
  }
  if (plan.mapping != Mapping::columns || threads <= 32) return 0;
  return threads / 32 * across *
         parcel_bytes(state, static_cast<std::size_t>(std::min(plan.vector, 4)));
}

std::int64_t block_shared_bytes(const KernelPlan& plan) {
  std::size_t bytes = 0;
  for (const Reduction& reduction : plan.reductions)
    bytes = std::max(bytes, reduction_shared_bytes(plan, state_bytes(reduction)));
  return static_cast<std::int64_t>((bytes + 15) / 16 * 16);
}

/// Shared memory of one scan: for combining within a tile, then among tiles.
std::size_t scan_shared_bytes(const KernelPlan& plan, std::size_t state) {
  const auto warps = static_cast<std::size_t>(plan.threads) / 32;
  if (plan.mapping == Mapping::scan_columns)
    return static_cast<std::size_t>(plan.threads) * static_cast<std::size_t>(plan.vector) * state;
  if (plan.threads_per_row <= 32) return 0;
  const auto rows = static_cast<std::size_t>(plan.threads / plan.threads_per_row);
  return (warps * static_cast<std::size_t>(plan.held) + rows) * state;
}

/// Approximate time for one element on one host thread, in nanoseconds. Assumes vectorised code and
/// data in the second-level cache.
double host_nanoseconds(const KernelPlan& plan) {
  constexpr double a_byte = 0.006, a_slot = 0.017, slots_to_convert = 15;
  constexpr std::int64_t likely_steps = 64;
  double bytes = 0, slots = 3.0 * static_cast<double>(plan.reductions.size());
  for (const Instruction& instruction : plan.body) {
    if (!plan.inner.empty() && !instruction.element) continue;
    const auto size = static_cast<double>(size_of(instruction.dtype));
    const Dim around = steps_around(plan, instruction, likely_steps);
    const auto steps = static_cast<double>(around.is_constant() ? around.constant() : likely_steps);
    const bool moves =
        instruction.kind == Instruction::Kind::load || instruction.kind == Instruction::Kind::put;
    if (moves) bytes += size * steps;
    if (instruction.kind != Instruction::Kind::apply) continue;
    const bool soft = instruction.dtype == DType::f16 || instruction.dtype == DType::bf16;
    const double own = soft ? slots_to_convert + ir::info(instruction.op).cost
                            : size / 4 * ir::info(instruction.op).cost;
    slots += own * steps;
  }
  for (const Store& store : plan.stores) {
    if (!store.by_value) bytes += static_cast<double>(size_of(plan.operands[store.operand].dtype));
  }
  return a_byte * bytes + a_slot * slots;
}

}  // namespace

std::int64_t host_worthwhile(const KernelPlan& plan) {
  constexpr double nanoseconds = 3000;
  const std::int64_t least = plan.element_loops.empty() ? std::int64_t{1} << 11 : 64;
  return std::clamp(static_cast<std::int64_t>(nanoseconds / host_nanoseconds(plan)), least,
                    std::int64_t{1} << 17);
}

namespace {

KernelStep host_shape(const KernelPlan& plan) {
  KernelStep step;
  const Dim outer = iterations(plan.outer);
  const std::int64_t worthwhile = host_worthwhile(plan);
  if (plan.mapping == Mapping::elements) {
    step.grid = {{outer, 1}};
    step.host_grain = worthwhile;
    return step;
  }
  if (plan.mapping == Mapping::tiles) {
    step.grid = tile_grid(plan);
    step.host_grain = std::max<std::int64_t>(worthwhile / (plan.tile_across * plan.tile_last), 1);
    return step;
  }
  if (plan.items) {
    constexpr std::int64_t worthwhile_bytes = 16 << 10;
    const std::int64_t step_bytes = plan.items->bytes * plan.items->per_block;
    step.grid = {{plan.items->count * Dim(plan.items->parts), plan.items->per_block}};
    step.host_grain = std::max<std::int64_t>(worthwhile_bytes / step_bytes, 1);
    return step;
  }
  const Dim inner = row_length(plan);
  const std::int64_t walk =
      inner.is_constant() ? std::max<std::int64_t>(inner.constant() / plan.split, 1) : worthwhile;
  if (plan.mapping == Mapping::rows || plan.mapping == Mapping::scan_rows) {
    step.grid = {{outer, 1}};
    step.host_grain = std::max<std::int64_t>(worthwhile / walk, 1);
  } else {
    const Dim columns = plan.outer.back().extent;
    const std::int64_t width =
        plan.mapping == Mapping::columns ? host_columns(plan) : host_scan_columns;
    const std::vector<Loop> rest(plan.outer.begin(), plan.outer.end() - 1);
    step.grid = {{columns, width}, {iterations(rest), 1}};
    step.host_grain = std::max<std::int64_t>(worthwhile / (walk * width), 1);
  }
  if (plan.least_part > 0) {
    step.grid.push_back({inner, plan.least_part, plan.split});
  } else if (plan.split > 1) {
    step.grid.push_back({plan.split, 1});
  }
  return step;
}

}  // namespace

std::int64_t host_states_a_column(const KernelPlan& plan, const Reduction& reduction) {
  namespace reduce = heddle_scalar::reduce;
  constexpr std::int64_t most_rows = std::int64_t{1} << 42;
  const CombineOrder order = order_of(reduction);
  if (order == CombineOrder::any) return 1;
  const Dim rows = iterations(plan.inner);
  const std::int64_t longest = rows.is_constant() ? rows.constant() : most_rows;
  const auto bytes = static_cast<int>(state_bytes(reduction));
  const bool in_rows = order == CombineOrder::rows;
  const std::int64_t length = in_rows ? reduce::block_length(bytes) : reduce::run_length(longest);
  const std::int64_t leaves =
      (longest + length - 1) / length * (in_rows ? reduce::lanes_of(longest, bytes) : 1);
  return std::bit_width(static_cast<std::uint64_t>(leaves)) + 1;
}

std::int64_t host_columns(const KernelPlan& plan) {
  constexpr std::int64_t stack_bytes = 192 << 10, fewest = 8;
  std::int64_t column_bytes = 1;
  for (const Reduction& one : plan.reductions)
    column_bytes += host_states_a_column(plan, one) * static_cast<std::int64_t>(state_bytes(one));
  const auto fitting = static_cast<std::uint64_t>(stack_bytes / column_bytes);
  return std::clamp(static_cast<std::int64_t>(std::bit_floor(fitting)), fewest, most_host_columns);
}

std::int64_t host_part_length(const KernelPlan& plan) {
  const std::int64_t length = (iterations(plan.inner).constant() + plan.split - 1) / plan.split;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));
}

CombineOrder order_of(const Reduction& reduction) {
  const bool rounds =
      is_inexact(reduction.dtype) && (reduction.op == ir::Op::sum || reduction.op == ir::Op::prod);
  if (!rounds) return CombineOrder::any;
  return reduction.along_columns ? CombineOrder::columns : CombineOrder::rows;
}

std::vector<ir::SymbolId> kernel_symbols(const KernelPlan& plan) {
  Symbols symbols(*plan.space);
  for (const Loop& loop : plan.outer) symbols.add(loop.extent);
  for (const Loop& loop : plan.inner) symbols.add(loop.extent);
  if (plan.parts_of) symbols.add(*plan.parts_of);
  if (plan.items) {
    symbols.add(plan.items->count);
    for (const ItemPhase& phase : plan.items->phases) {
      for (const Loop& loop : phase.batch) symbols.add(loop.extent);
    }
  }
  if (plan.attention) {
    symbols.add(plan.attention->rows);
    symbols.add(plan.attention->columns);
    for (const Index& address : row_addresses(plan)) symbols.add(address);
    for (const std::optional<Index>& bound : {plan.attention->begin, plan.attention->end}) {
      if (bound) symbols.add(*bound);
    }
  }
  for (const Instruction& instruction : plan.body) {
    symbols.add(instruction.address);
    symbols.add(instruction.begin);
    symbols.add(instruction.end);
    symbols.add(instruction.step);
    for (const Dim& extent : instruction.extents) symbols.add(extent);
  }
  for (const ElementLoop& loop : plan.element_loops) symbols.add(loop.length.value_or(0));
  for (const Store& store : plan.stores) symbols.add(store.address);
  return symbols.take();
}

std::vector<Loop> thread_loops(const KernelPlan& plan) {
  std::vector<Loop> loops = plan.outer;
  if (plan.held > 0) {
    Loop& held = loops[static_cast<std::size_t>(plan.held_loop)];
    held.extent = (held.extent.constant() + plan.held - 1) / plan.held;
  }
  return loops;
}

std::size_t tile_bytes(const KernelPlan& plan, DType dtype) {
  const auto elements = static_cast<std::size_t>(plan.tile_across * tile_pitch(plan));
  return (elements * size_of(dtype) + 15) / 16 * 16;
}

std::vector<Loop> untiled_loops(const KernelPlan& plan) {
  std::vector<Loop> rest = plan.outer;
  rest.pop_back();
  rest.erase(rest.begin() + plan.tile_loop);
  return rest;
}

std::vector<std::uint32_t> kernel_scalars(const KernelPlan& plan) {
  std::vector<std::uint32_t> scalars;
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind != Instruction::Kind::scalar) continue;
    if (std::find(scalars.begin(), scalars.end(), instruction.scalar) == scalars.end()) {
      scalars.push_back(instruction.scalar);
    }
  }
  return scalars;
}

std::int64_t scan_tile(const KernelPlan& plan) {
  return plan.mapping == Mapping::scan_rows
             ? std::int64_t{plan.threads_per_row} * plan.vector * plan.held
             : plan.threads / plan.threads_per_row * plan.held;
}

LookBackBytes look_back_bytes(const KernelPlan& plan) {
  LookBackBytes result;
  std::vector<GridExtent> grid = scan_grid(plan);
  constexpr std::int64_t word = 8;
  result.flags_per_block = word * (1 + 2 * static_cast<std::int64_t>(plan.reductions.size()));
  result.flags = bytes_of_blocks(grid, result.flags_per_block);
  grid = {{iterations(plan.outer), 1}, grid.back()};
  for (const Reduction& reduction : plan.reductions) {
    const auto state = static_cast<std::int64_t>(state_bytes(reduction));
    result.states.push_back(bytes_of_blocks(grid, 2 * state));
  }
  return result;
}

std::size_t state_bytes(const Reduction& reduction) {
  if (reduction.about == SumAbout::greatest) return 3 * size_of(reduction.dtype);
  return ir::reduction_state_bytes(reduction.op, reduction.dtype, reduction.begins >= 0);
}

ClusterMemory cluster_memory(const KernelPlan& plan) {
  ClusterMemory memory;
  memory.bytes = block_shared_bytes(plan);
  if (plan.cluster == 1) return memory;
  if (plan.mapping == Mapping::columns) {
    memory.slots = plan.threads_per_row;
    memory.width = plan.vector;
  }
  for (std::size_t i = 0; i < plan.reductions.size(); ++i) {
    memory.exchanges.push_back(memory.bytes);
    memory.bytes += 8;
  }
  for (const Reduction& reduction : plan.reductions) {
    memory.bytes = (memory.bytes + 15) / 16 * 16;
    memory.parcels.push_back(memory.bytes);
    const std::size_t bytes =
        parcel_bytes(state_bytes(reduction), static_cast<std::size_t>(memory.width));
    memory.bytes += static_cast<std::int64_t>(bytes) * memory.slots * plan.cluster;
  }
  return memory;
}

std::uint32_t shared_bytes(const KernelPlan& plan) {
  std::size_t bytes = 0;
  if (plan.items) bytes = static_cast<std::size_t>(plan.items->bytes * plan.items->per_block);
  if (plan.mapping == Mapping::tiles) {
    for (const int load : plan.tiled) bytes += tile_bytes(plan, plan.body[load].dtype);
  }
  for (const Reduction& reduction : plan.reductions) {
    if (!reduction.scan) continue;
    bytes = std::max(bytes, scan_shared_bytes(plan, state_bytes(reduction)));
  }
  bytes = std::max(bytes, static_cast<std::size_t>(cluster_memory(plan).bytes));
  return static_cast<std::uint32_t>((bytes + 15) / 16 * 16);
}

KernelStep launch_shape(const KernelPlan& plan, const ir::Target& target) {
  if (!ir::capabilities_of(target).blocks) return host_shape(plan);
  KernelStep step;
  step.shared_bytes = shared_bytes(plan);
  step.block[0] = static_cast<std::uint32_t>(plan.threads);
  const Dim outer = iterations(plan.outer);
  if (plan.attention) {
    const std::vector<Loop> batch(plan.outer.begin(), plan.outer.end() - 1);
    step.grid = {{plan.attention->rows, attention_block_rows}, {iterations(batch), 1}};
    step.shared_bytes = attention_bytes(*plan.attention);
    return step;
  }
  switch (plan.mapping) {
    case Mapping::elements:
      step.grid = {
          {iterations(thread_loops(plan)), std::int64_t{plan.threads} * plan.unroll * plan.vector}};
      break;
    case Mapping::tiles:
      step.grid = tile_grid(plan);
      break;
    case Mapping::rows:
      step.grid = {{outer, plan.threads / plan.threads_per_row}};
      break;
    case Mapping::scan_rows:
      step.grid = scan_grid(plan);
      break;
    case Mapping::scan_columns:
      step.grid = scan_grid(plan);
      step.block[0] = static_cast<std::uint32_t>(plan.threads_per_row);
      step.block[1] = static_cast<std::uint32_t>(plan.threads / plan.threads_per_row);
      break;
    case Mapping::items:
      step.grid = {{plan.items->count * Dim(plan.items->parts), plan.items->per_block}};
      break;
    case Mapping::columns: {
      const std::vector<Loop> rest(plan.outer.begin(), plan.outer.end() - 1);
      step.grid = {{plan.outer.back().extent, std::int64_t{plan.threads_per_row} * plan.vector},
                   {iterations(rest), 1}};
      step.block[0] = static_cast<std::uint32_t>(plan.threads_per_row);
      step.block[1] = static_cast<std::uint32_t>(plan.threads / plan.threads_per_row);
      break;
    }
  }
  if (plan.split > 1) step.grid.push_back({plan.split, 1});
  if (plan.cluster > 1) step.grid.push_back({plan.cluster, 1});
  step.cluster = static_cast<std::uint32_t>(plan.cluster);
  return step;
}

}  // namespace heddle::passes
