#include "passes/plan/held_elements.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ir/calls/user_map.h"
#include "passes/groups/cost.h"
#include "passes/plan/analyze.h"
#include "passes/plan/shifted_loads.h"
#include "passes/plan/uneven_rows.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

// Limit on the iterations of a loop that one thread takes in order to share their loads.
constexpr std::int64_t most_held_iterations = 8;
// Elements at least as wide are accessed efficiently one at a time.
constexpr std::size_t narrowest = 4;

bool is_plain_load(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::load && instruction.arguments.empty();
}

/// A load whose address contains no values, but may be guarded.
bool is_straight_load(const Instruction& load) {
  return load.kind == Instruction::Kind::load && load.arguments.size() == (load.guarded ? 1 : 0);
}

/// The address with indices that wrap around the end of their axis, as roll makes them, replaced by
/// those before the begin or behind the end: the address for most iterations.
Index without_wrapping(const IndexSpace& space, const Index& address) {
  Index result = {address.offset, {}};
  for (const IndexTerm& term : address.terms) {
    const Atom& atom = space.atom(term.atom);
    Index index{0, {{term.atom, 1}}};
    if (atom.kind == Atom::Kind::remainder &&
        space.in_range(atom.numerator, atom.divisor + atom.divisor)) {
      index = atom.numerator;
      const Dim around = index.offset - atom.divisor;
      if ((index.offset + around).is_non_negative()) index.offset = around;
    }
    result = space.add(result, space.scale(index, term.coefficient));
  }
  return result;
}

/// Loads in an iteration of a loop that an iteration shortly before makes as well.
struct RepeatedLoads {
  int count = 0;
  int in_registers = 0;  ///< of these, the ones whose values a thread can keep
  int constant = 0;      ///< loads that are the same in all iterations
};

RepeatedLoads repeated_loads(const KernelPlan& plan, const Loop& loop) {
  RepeatedLoads result;
  std::vector<std::pair<const Instruction*, Index>> loads;
  for (const Instruction& one : plan.body) {
    if (is_straight_load(one)) loads.emplace_back(&one, without_wrapping(*plan.space, one.address));
  }
  // Two pieces of a concatenation are never both loaded.
  const auto may_both_load = [](const Instruction& a, const Instruction& b) {
    return !a.guarded || !b.guarded || a.arguments == b.arguments;
  };
  for (const auto& [later, address] : loads) {
    const auto step = step_along(plan, address, loop);
    if (!step) continue;
    if (*step == Dim(0)) {
      ++result.constant;
      continue;
    }
    const bool repeats = std::ranges::any_of(loads, [&](const auto& load) {
      if (load.first->operand != later->operand || !may_both_load(*load.first, *later))
        return false;
      Index moved = load.second;
      for (int iterations = 1; iterations <= 4; ++iterations) {
        moved.offset = moved.offset + *step;
        if (moved == address) return true;
      }
      return false;
    });
    result.count += repeats ? 1 : 0;
    result.in_registers += repeats && is_plain_load(*later) && later->address == address ? 1 : 0;
  }
  return result;
}

/// Whether `held` iterations of the loop leave enough threads, and fit into the registers of one.
bool fits(const KernelPlan& plan, const RepeatedLoads& repeated, std::int64_t held,
          std::int64_t least_threads, bool whole_loop = false) {
  constexpr std::int64_t register_bytes = 192, few = 4;
  std::int64_t bytes = 0, loads = 0;
  for (const Instruction& load : plan.body) {
    if (!is_straight_load(load)) continue;
    bytes += static_cast<std::int64_t>(size_of(load.dtype)) * plan.vector;
    ++loads;
  }
  // Of many iterations, the compiler loads repeated elements long before it last uses them.
  const bool is_few = held <= few || whole_loop;
  const std::int64_t once = is_few ? repeated.in_registers + repeated.constant : 0;
  const std::int64_t all = loads * held - once * (held - 1);
  return bytes * all <= register_bytes * std::max<std::int64_t>(loads, 1) &&
         held * element_slots(plan) * plan.vector <= most_thread_slots &&
         iterations(plan.outer).constant() / (plan.vector * held) >= least_threads;
}

void hold(KernelPlan& plan, const RepeatedLoads& repeated, int loop, std::int64_t most,
          std::int64_t least_threads) {
  std::int64_t held = most;
  while (held > 1 && !fits(plan, repeated, held, least_threads)) held /= 2;
  if (held == 1) return;
  plan.held = held;
  plan.held_loop = loop;
}

/// Whether iterations of the loop compute different pieces of a concatenation or update.
bool chooses_pieces(const KernelPlan& plan, const Loop& loop) {
  return std::ranges::any_of(plan.body, [&](const Instruction& one) {
    return one.kind == Instruction::Kind::within &&
           !(plan.space->coefficient(one.address, loop.atom) == Dim(0));
  });
}

/// If most loads are the same in all iterations of a short loop, a thread takes all of them: of the
/// pieces of a stack that are computed from the same arrays, say. Which piece it is, is then known
/// at compile time.
bool share_pieces(KernelPlan& plan, const ir::Target& target) {
  constexpr std::int64_t most_pieces = 16;
  if (!iterations(plan.outer).is_constant()) return false;
  const auto loads = std::ranges::count_if(plan.body, is_straight_load);
  for (std::size_t i = 0; i + 1 < plan.outer.size(); ++i) {
    const std::int64_t extent = known(plan.outer[i].extent, 0);
    const RepeatedLoads repeated = repeated_loads(plan, plan.outer[i]);
    if (extent < 2 || extent > most_pieces || !chooses_pieces(plan, plan.outer[i]) ||
        repeated.constant * 2 <= loads ||
        !fits(plan, repeated, extent, std::int64_t{2048} * std::max(1, target.multiprocessors),
              true))
      continue;
    plan.held = extent;
    plan.held_loop = static_cast<int>(i);
    return true;
  }
  return false;
}

/// If neighbouring iterations of a loop (except the last loop) load the same elements, a thread
/// takes several of them.
void share_loads(KernelPlan& plan, const ir::Target& target) {
  RepeatedLoads most;
  int shared_loop = -1;
  for (std::size_t i = 0; i + 1 < plan.outer.size(); ++i) {
    if (known(plan.outer[i].extent, 0) < most_held_iterations) continue;
    const RepeatedLoads repeated = repeated_loads(plan, plan.outer[i]);
    if (repeated.count > 0 && repeated.count >= most.count)
      shared_loop = static_cast<int>(i), most = repeated;
  }
  if (shared_loop < 0 || !iterations(plan.outer).is_constant()) return;
  // Held loads are whole vectors; or single elements, if these are wide enough for efficient
  // access.
  KernelPlan trial = plan;
  bool wide = true;
  for (const Instruction& load : plan.body) {
    if (!is_plain_load(load)) continue;
    wide &= size_of(load.dtype) >= narrowest;
    const KernelOperand& operand = plan.operands[static_cast<std::size_t>(load.operand)];
    if (vector_width(plan, operand, load.address, plan.outer.back(), plan.vector) < plan.vector)
      trial.vector = 1;
  }
  if (trial.vector < plan.vector && !wide) return;
  const std::int64_t enough = std::int64_t{2048} * std::max(1, target.multiprocessors);
  hold(trial, most, shared_loop, most_held_iterations, enough);
  if (trial.held > 0) plan = std::move(trial);
}

/// Whether a load's address contains values: neighbouring elements of a row then probably read
/// neighbouring elements, those of several rows do not.
bool gathers(const KernelPlan& plan) {
  return std::ranges::any_of(plan.body, [](const Instruction& one) {
    return one.kind == Instruction::Kind::load && !is_straight_load(one);
  });
}

constexpr int most_unrolled = 4;

std::int64_t least_unrolled_threads(const ir::Target& target) {
  return std::int64_t{8} * 2048 * std::max(1, target.multiprocessors);
}

/// A thread that takes single elements computes the position of each from its number, by divisions.
/// If it takes several iterations of an outer loop, it does that once for all of them, and loads
/// what is the same in all of them once.
void share_positions(KernelPlan& plan, const ir::Target& target) {
  constexpr std::int64_t least_run = 64, most_slots = 512;
  if (plan.vector > 1 || plan.outer.size() < 2 || !iterations(plan.outer).is_constant() ||
      known(plan.outer.back().extent, 0) < least_run || gathers(plan) ||
      element_slots(plan) * most_unrolled > most_slots)
    return;
  RepeatedLoads most;
  int loop = -1;
  for (int i = 0; i + 1 < static_cast<int>(plan.outer.size()); ++i) {
    const Loop& one = plan.outer[static_cast<std::size_t>(i)];
    if (known(one.extent, 0) < most_unrolled) continue;
    const RepeatedLoads repeated = repeated_loads(plan, one);
    if (loop < 0 || repeated.constant >= most.constant) loop = i, most = repeated;
  }
  if (loop >= 0) hold(plan, most, loop, most_unrolled, least_unrolled_threads(target));
}

/// A thread takes several vectors if it would otherwise have too few loads in flight, or if they
/// can share the work on a random key; and only if enough blocks remain to fill the device.
void unroll(KernelPlan& plan, const ir::Target& target) {
  int loads = 0;
  for (const Instruction& load : plan.body) {
    if (load.kind != Instruction::Kind::load) continue;
    const bool counts = load.guarded || std::ranges::all_of(plan.outer, [&](const Loop& loop) {
                          const auto step = step_along(plan, load, loop);
                          return !step || !(*step == Dim(0));
                        });
    const bool one_by_one = plan.row_loops > 0 && !is_vector_in_uneven_rows(plan, load);
    if (counts) loads += one_by_one ? plan.vector : 1;
  }
  const bool shares = std::ranges::any_of(plan.body, [](const Instruction& instruction) {
    return instruction.kind == Instruction::Kind::load ||
           (instruction.kind == Instruction::Kind::apply && info(instruction.op).has(ir::keyed));
  });
  if (!shares) return;
  const std::int64_t vectors = known(iterations(plan.outer), 1 << 26) / plan.vector;
  const std::int64_t slots = element_slots(plan) * plan.vector;
  constexpr int enough_loads = 3;
  while (plan.unroll < most_unrolled && plan.unroll * loads < enough_loads &&
         plan.unroll * 2 * slots <= most_thread_slots &&
         vectors / (plan.unroll * 2) >= least_unrolled_threads(target)) {
    plan.unroll *= 2;
  }
}

}  // namespace

std::int64_t element_slots(const KernelPlan& plan) {
  std::int64_t slots = plan.element_loops.empty() ? 0 : most_thread_slots;
  for (const Instruction& one : plan.body) {
    // Behind the last element, lanes of a vector compute with zeros.
    if (one.kind == Instruction::Kind::user && ir::may_run_forever(*one.function))
      slots += most_thread_slots;
    if (one.kind == Instruction::Kind::user)
      slots += static_cast<std::int64_t>(user_map_slots(*one.function));
    slots += one.kind == Instruction::Kind::apply ? info(one.op).cost : 1;
  }
  return slots;
}

void choose_single_elements(KernelPlan& plan) {
  if (plan.vector == 1) return;
  const Loop& last = plan.outer.back();
  KernelPlan trial = plan;  // with the loads that take their elements from other vectors
  share_shifted_vectors(trial);
  std::size_t single = 0, in_vectors = 0;
  for (const Instruction& load : trial.body) {
    if (load.kind != Instruction::Kind::load || load.shifted_from >= 0) continue;
    const auto step = step_along(plan, load, last);
    if (!step || !(*step == Dim(1))) continue;
    const bool is_vector = vector_width(plan, load, last, plan.vector) == plan.vector;
    if (!is_vector && size_of(load.dtype) < narrowest) return;
    (is_vector ? in_vectors : single) += size_of(load.dtype);
  }
  for (const Store& store : plan.stores)
    in_vectors += size_of(plan.operands[static_cast<std::size_t>(store.operand)].dtype);
  if (single > in_vectors) plan.vector = 1;
}

bool shares_loads(const KernelPlan& plan, const ir::Target& target) {
  KernelPlan trial = plan;
  share_loads(trial, target);
  return trial.held > 0;
}

void choose_elements_a_thread(KernelPlan& plan, const ir::Target& target) {
  if (plan.row_loops > 0) return unroll(plan, target);
  if (share_pieces(plan, target)) return;
  share_loads(plan, target);
  if (plan.held == 0) share_positions(plan, target);
  if (plan.held == 0) unroll(plan, target);
}

}  // namespace heddle::passes
