#include "passes/plan/uneven_rows.h"

#include <algorithm>
#include <set>

#include "passes/plan/analyze.h"
#include "passes/plan/held_elements.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

constexpr std::size_t word = 4;  // bytes of the least efficient access

/// Whether elements lie in the order of the loops, and aligned vectors of them in aligned memory.
bool is_in_order(const KernelPlan& plan, const KernelOperand& operand, const Index& address,
                 int width) {
  if (!operand.aligned || !address.offset.divisible_by(width)) return false;
  Dim inner = 1;
  for (std::size_t i = plan.outer.size(); i-- > 0;) {
    const auto step = step_along(plan, address, plan.outer[i]);
    if (!step || !(*step == inner)) return false;
    inner = inner * plan.outer[i].extent;
  }
  return address.terms.size() == plan.outer.size();
}

bool is_plain_load(const Instruction& one) {
  return one.kind == Instruction::Kind::load && one.arguments.empty();
}

bool is_constant_along_rows(const KernelPlan& plan, const Instruction& load) {
  return std::ranges::all_of(row_loops(plan), [&](const Loop& loop) {
    const auto step = step_along(plan, load, loop);
    return step && *step == Dim(0);
  });
}

/// Accesses to the first-level cache that a warp's loads of one value need for 32 elements, each of
/// 128 bytes. Neighbouring threads are a vector apart.
double accesses_of(const KernelPlan& plan, const Instruction& load) {
  const auto bytes = static_cast<double>(size_of(load.dtype));
  const double words = plan.vector * bytes / word;
  if (is_aligned_in_uneven_rows(plan, load)) return words / plan.vector;
  if (is_unaligned_in_uneven_rows(plan, load)) {
    const double loads = 1 + (words > 1 ? words / 2 : words);  // of 8 or 4 bytes, and the last
    return loads * std::max(1.0, words) / plan.vector;
  }
  if (is_constant_along_rows(plan, load)) return 1.0 / plan.vector;
  const auto step = step_along(plan, load, plan.outer.back());
  const double stride =
      step && step->is_constant() ? std::abs(static_cast<double>(step->constant())) : 1;
  return std::max(1.0, words * std::max(1.0, stride));
}

/// Whether the cache delivers the loads of 32 elements in the time in which memory moves their
/// bytes: about 18 bytes a cycle and multiprocessor.
bool has_time_for_loads(const KernelPlan& plan) {
  constexpr double bytes_a_cycle = 18;
  double accesses = 0;
  std::set<int> operands;
  for (const Instruction& load : plan.body) {
    if (load.kind != Instruction::Kind::load || is_constant_along_rows(plan, load)) continue;
    accesses += accesses_of(plan, load);
    operands.insert(load.operand);
  }
  for (const Store& store : plan.stores) operands.insert(store.operand);
  double bytes = 0;
  for (const int operand : operands)
    bytes += static_cast<double>(size_of(plan.operands[static_cast<std::size_t>(operand)].dtype));
  return accesses <= bytes * 32 / bytes_a_cycle;
}

/// The least number of last loops whose rows are much longer than a vector, so that few vectors
/// hold elements of two rows; 0 if there is none.
int loops_of_long_rows(const KernelPlan& plan) {
  constexpr std::int64_t vectors_of_a_row = 32;
  std::int64_t length = 1;
  for (std::size_t count = 1; count <= plan.outer.size(); ++count) {
    length *= plan.outer[plan.outer.size() - count].extent.constant();
    if (length >= vectors_of_a_row * plan.vector) return static_cast<int>(count);
  }
  return 0;
}

bool applies(const KernelPlan& plan) {
  if (plan.outer.size() < 2 || !plan.element_loops.empty()) return false;
  const bool is_known =
      std::ranges::all_of(plan.outer, [](const Loop& loop) { return loop.extent.is_constant(); });
  if (!is_known) return false;
  return std::ranges::none_of(plan.body, [](const Instruction& one) {
    return one.kind == Instruction::Kind::array || one.kind == Instruction::Kind::user;
  });
}

}  // namespace

std::vector<Loop> row_loops(const KernelPlan& plan) {
  return {plan.outer.end() - plan.row_loops, plan.outer.end()};
}

bool is_aligned_in_uneven_rows(const KernelPlan& plan, const Instruction& load) {
  return is_plain_load(load) &&
         is_in_order(plan, plan.operands[static_cast<std::size_t>(load.operand)], load.address,
                     plan.vector);
}

bool is_unaligned_in_uneven_rows(const KernelPlan& plan, const Instruction& load) {
  if (!is_plain_load(load) || plan.row_loops != 1 || is_aligned_in_uneven_rows(plan, load))
    return false;
  const std::size_t bytes = size_of(load.dtype);
  const auto step = step_along(plan, load.address, plan.outer.back());
  return step && *step == Dim(1) && bytes < word &&
         bytes * static_cast<std::size_t>(plan.vector) % word == 0;
}

bool is_vector_in_uneven_rows(const KernelPlan& plan, const Instruction& load) {
  return is_aligned_in_uneven_rows(plan, load) || is_unaligned_in_uneven_rows(plan, load);
}

bool loads_vectors_in_uneven_rows(const KernelPlan& plan) {
  return plan.row_loops > 0 && std::ranges::all_of(plan.body, [&](const Instruction& one) {
           return one.kind != Instruction::Kind::load || is_vector_in_uneven_rows(plan, one) ||
                  is_constant_along_rows(plan, one);
         });
}

void store_uneven_rows(KernelPlan& plan, const ir::Target& target) {
  if (!applies(plan)) return;
  const std::int64_t enough = std::int64_t{2048} * std::max(1, target.multiprocessors);
  KernelPlan wide = plan;
  std::size_t widest = 1, narrowest = 16;
  for (const Store& store : plan.stores) {
    const std::size_t bytes = size_of(plan.operands[static_cast<std::size_t>(store.operand)].dtype);
    widest = std::max(widest, bytes);
    narrowest = std::min(narrowest, bytes);
  }
  const int least = std::max(2, static_cast<int>(word / narrowest));
  if (plan.vector >= least) return;
  for (wide.vector = target.vector_bytes / static_cast<int>(widest); wide.vector >= least;
       wide.vector /= 2) {
    const bool in_order = std::ranges::all_of(plan.stores, [&](const Store& store) {
      return !store.by_value && !store.combine && store.guard < 0 &&
             is_in_order(plan, plan.operands[static_cast<std::size_t>(store.operand)],
                         store.address, wide.vector);
    });
    wide.row_loops = loops_of_long_rows(wide);
    const std::int64_t threads = iterations(plan.outer).constant() / wide.vector;
    if (wide.vector * element_slots(plan) > most_thread_slots || threads < enough || !in_order ||
        wide.row_loops == 0 || !has_time_for_loads(wide))
      continue;
    plan.vector = wide.vector;
    plan.row_loops = wide.row_loops;
    return;
  }
}

}  // namespace heddle::passes
