#include "passes/plan/details.h"

#include <algorithm>
#include <array>

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"
#include "passes/plan/shifted_loads.h"
#include "passes/plan/uneven_rows.h"

namespace heddle::passes {

namespace {

bool divides(const Instruction& user, std::size_t argument) {
  return user.kind == Instruction::Kind::apply && user.op == ir::Op::divide && argument == 1 &&
         user.element;
}

/// Marks values of a row that are only used as divisors of elements. Values are not marked if a
/// reduction over the row needs the quotients.
void choose_divisors(KernelPlan& plan) {
  std::vector<bool> divided_by(plan.body.size()), otherwise(plan.body.size());
  for (const Instruction& user : plan.body) {
    for (std::size_t k = 0; k < user.arguments.size(); ++k)
      (divides(user, k) ? divided_by : otherwise)[user.arguments[k]] = true;
  }
  for (const Reduction& reduction : plan.reductions) {
    for (const int need : needs_of(reduction)) otherwise[need] = true;
    if (reduction.value < 0) continue;
    for (const int i : needed(plan, {reduction.value}, true)) {
      if (divides(plan.body[i], 1)) otherwise[plan.body[i].arguments[1]] = true;
    }
  }
  for (const Store& store : plan.stores) {
    for (const int need : needs_of(store)) otherwise[need] = true;
  }
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    Instruction& one = plan.body[i];
    const bool narrow = is_floating(one.dtype) && one.dtype != DType::f64;
    one.divisor = narrow && !one.element && divided_by[i] && !otherwise[i];
  }
}

/// Marks loads that several passes need, or several of the iterations that one thread takes at
/// once.
void choose_held_loads(KernelPlan& plan, const Loop& along) {
  std::vector<int> uses(plan.body.size());
  for (const std::vector<int>& roots : pass_roots(plan)) {
    for (const int i : needed(plan, roots, !plan.inner.empty())) ++uses[i];
  }
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    Instruction& one = plan.body[i];
    one.held = one.kind == Instruction::Kind::load && one.arguments.empty() && uses[i] > 1 &&
               (plan.vector == 1 || vector_width(plan, one, along, plan.vector) == plan.vector);
  }
}

/// Issue slots for computing an element from loads and from values of the row.
int slots_again(const KernelPlan& plan, int value) {
  int slots = 0;
  for (const int i : needed(plan, {value}, true)) {
    const Instruction& one = plan.body[static_cast<std::size_t>(i)];
    slots += one.kind == Instruction::Kind::apply ? ir::info(one.op).cost : 1;
  }
  return slots;
}

/// Marks values that a pass computes and a later pass needs again, if that takes long, and if they
/// take no more registers than the loads that the later pass then does not need.
void choose_kept_values(KernelPlan& plan) {
  constexpr int least_slots = 6;
  if (plan.mapping != Mapping::rows || plan.stages < 2) return;
  const std::vector<std::vector<int>> roots = pass_roots(plan);
  std::vector<int> first_pass(plan.body.size(), -1);
  for (int pass = 0; pass < static_cast<int>(roots.size()); ++pass) {
    const std::vector<int> now = needed(plan, roots[static_cast<std::size_t>(pass)], true);
    std::vector<bool> again(plan.body.size()), inside(plan.body.size());
    for (const int i : now) {
      again[i] = first_pass[i] >= 0 && plan.body[i].kind == Instruction::Kind::apply;
      if (first_pass[i] < 0) first_pass[i] = pass;
    }
    for (const int i : now) {
      for (const int argument : plan.body[i].arguments)
        inside[argument] = inside[argument] || again[i];
    }
    for (const int i : now) {
      Instruction& one = plan.body[i];
      std::size_t bytes = 0;
      for (const int k : needed(plan, {i}, true)) {
        if (plan.body[k].held) bytes += size_of(plan.body[k].dtype);
      }
      one.held |= again[i] && !inside[i] && first_pass[i] == one.stage &&
                  size_of(one.dtype) <= bytes && slots_again(plan, i) >= least_slots;
    }
  }
}

/// Whether an instruction computes truth values from truth values, each bit by itself.
bool computes_truths(const KernelPlan& plan, const Instruction& one) {
  using ir::Op;
  constexpr std::array ops = {Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor, Op::invert,
                              Op::logical_and, Op::logical_or, Op::logical_xor, Op::logical_not,
                              Op::equal,       Op::not_equal,  Op::add,         Op::multiply,
                              Op::maximum,     Op::minimum};
  return one.kind == Instruction::Kind::apply && std::ranges::find(ops, one.op) != ops.end() &&
         std::ranges::all_of(one.arguments, [&](int argument) {
           return is_boolean(plan.body[static_cast<std::size_t>(argument)].dtype);
         });
}

/// Whether vectors of truth values can be computed in words: all loads and stores are of whole
/// vectors, or of a value that a vector shares.
bool can_pack_truths(const KernelPlan& plan) {
  constexpr int in_a_word = 4;
  if (plan.mapping != Mapping::elements || plan.outer.empty() || plan.held > 0 ||
      plan.vector % in_a_word != 0 || !plan.element_loops.empty())
    return false;
  const Loop& last = plan.outer.back();
  const auto is_whole_load = [&](const Instruction& one) {
    if (one.kind != Instruction::Kind::load || !one.arguments.empty()) return false;
    if (plan.row_loops > 0) return is_vector_in_uneven_rows(plan, one);
    const auto step = step_along(plan, one, last);
    return vector_width(plan, one, last, plan.vector) == plan.vector || (step && *step == Dim(0));
  };
  return std::ranges::all_of(plan.body,
                             [&](const Instruction& one) {
                               return is_boolean(one.dtype) &&
                                      (one.kind == Instruction::Kind::constant ||
                                       is_whole_load(one) || computes_truths(plan, one));
                             }) &&
         std::ranges::all_of(plan.stores, [&](const Store& store) {
           const KernelOperand& operand = plan.operands[static_cast<std::size_t>(store.operand)];
           return !store.by_value && !store.combine && store.guard < 0 &&
                  (plan.row_loops > 0 ||
                   vector_width(plan, operand, store.address, last, plan.vector) == plan.vector);
         });
}

/// Unrolls further if elements are narrow and there is little work for each.
int pass_unroll(const KernelPlan& plan) {
  constexpr int least = 4, elements = 16, light = 8;
  if (plan.mapping == Mapping::columns || segmented(plan) != nullptr) return least;
  const auto varying = std::ranges::count_if(plan.body, &Instruction::element);
  const bool places = std::ranges::any_of(
      plan.reductions, [](const Reduction& reduction) { return ir::finds_index(reduction.op); });
  return varying > light ? least : std::max(elements / (places ? 2 : 1) / plan.vector, least);
}

}  // namespace

std::vector<std::vector<int>> pass_roots(const KernelPlan& plan) {
  const bool scans = plan.mapping == Mapping::scan_rows || plan.mapping == Mapping::scan_columns;
  if (plan.inner.empty()) {
    std::vector<int> roots;
    for (const Store& store : plan.stores) {
      for (const int need : needs_of(store)) roots.push_back(need);
    }
    return {roots, roots};
  }
  std::vector<std::vector<int>> walks(scans ? 2 : static_cast<std::size_t>(plan.stages));
  for (const Reduction& reduction : plan.reductions) {
    const bool after_scans = scans && !reduction.scan;
    for (const int need : needs_of(reduction))
      walks[after_scans ? 1
            : scans     ? 0
                        : static_cast<std::size_t>(reduction.stage)]
          .push_back(need);
  }
  for (const Store& store : plan.stores) {
    if (store.element)
      walks[scans ? 1 : static_cast<std::size_t>(store.stage)].push_back(store.value);
  }
  return walks;
}

void decide_details(KernelPlan& plan, const ir::Target& target) {
  if (!plan.has_loops() || plan.items) return;
  if (!ir::capabilities_of(target).blocks) {
    plan.host_passes = host_passes(plan);
    return;
  }
  const bool rows = plan.mapping == Mapping::rows, columns = plan.mapping == Mapping::columns;
  if (rows || columns) choose_divisors(plan);
  plan.packs_truths = can_pack_truths(plan);
  share_shifted_vectors(plan);
  if (plan.held > 0) {
    const bool across = columns || plan.mapping == Mapping::scan_columns || plan.inner.empty();
    choose_held_loads(plan, across ? plan.outer.back() : plan.inner.back());
    choose_kept_values(plan);
  } else if (rows || columns) {
    plan.pass_unroll = pass_unroll(plan);
  }
}

}  // namespace heddle::passes
