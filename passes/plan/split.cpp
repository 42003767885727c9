#include "passes/plan/split.h"

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"

namespace heddle::passes {

namespace {

void add_partials(KernelPlan& plan, const std::vector<int>& partials, bool written) {
  for (std::size_t i = 0; i < plan.reductions.size(); ++i) {
    KernelOperand operand;
    operand.value = plan.reductions[i].source;
    operand.dtype = plan.reductions[i].dtype;
    operand.written = written;
    operand.partials = partials[i];
    plan.reductions[i].partials = static_cast<int>(plan.operands.size());
    plan.operands.push_back(operand);
  }
}

/// Keeps the element loops whose instruction is needed.
void keep_loops(KernelPlan& plan, const std::vector<bool>& needed,
                const std::vector<int>& new_body) {
  std::vector<int> new_loop(plan.element_loops.size(), -1);
  std::vector<ElementLoop> loops;
  for (std::size_t i = 0; i < plan.element_loops.size(); ++i) {
    const ElementLoop& loop = plan.element_loops[i];
    if (!needed[loop.instruction]) continue;
    new_loop[i] = static_cast<int>(loops.size());
    loops.push_back(renumbered(loop, [&](int old) { return new_body[old]; }));
  }
  plan.element_loops = std::move(loops);
  for (Instruction& one : plan.body) {
    if (one.loop >= 0) one.loop = new_loop[one.loop];
    if (one.step_of >= 0) one.step_of = new_loop[one.step_of];
  }
}

}  // namespace

void prune(KernelPlan& plan, IndexSpace& space) {
  std::vector<bool> needed(plan.body.size()), used(plan.operands.size());
  for (const Store& store : plan.stores) needed[store.value] = used[store.operand] = true;
  for (const Reduction& reduction : plan.reductions) {
    for (const int value : needs_of(reduction)) needed[value] = true;
    if (reduction.partials >= 0) used[reduction.partials] = true;
  }
  for (std::size_t i = plan.body.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const int argument : plan.body[i].arguments) needed[argument] = true;
    if (plan.body[i].operand >= 0) used[plan.body[i].operand] = true;
    if (plan.body[i].kind != Instruction::Kind::loop) continue;
    for (const int step : plan.element_loops[plan.body[i].loop].steps) needed[step] = true;
  }
  std::vector<int> new_body(plan.body.size(), -1), new_operand(plan.operands.size(), -1);
  std::vector<Instruction> body;
  std::vector<KernelOperand> operands;
  for (std::size_t i = 0; i < plan.operands.size(); ++i) {
    if (!used[i]) continue;
    new_operand[i] = static_cast<int>(operands.size());
    operands.push_back(plan.operands[i]);
  }
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    if (!needed[i]) continue;
    new_body[i] = static_cast<int>(body.size());
    Instruction kept = plan.body[i];
    for (int& argument : kept.arguments) argument = new_body[argument];
    kept.address = space.with_values(kept.address, [&](AtomId computed) {
      const Atom& position = space.atom(computed);
      return space.computed(static_cast<std::uint32_t>(new_body[position.value]), position.extent);
    });
    if (kept.operand >= 0) kept.operand = new_operand[kept.operand];
    body.push_back(std::move(kept));
  }
  plan.body = std::move(body);
  plan.operands = std::move(operands);
  keep_loops(plan, needed, new_body);
  if (plan.skewed >= 0) plan.skewed = new_body[plan.skewed];
  for (Store& store : plan.stores)
    store.value = new_body[store.value], store.operand = new_operand[store.operand];
  for (Reduction& reduction : plan.reductions) {
    if (reduction.value >= 0) reduction.value = new_body[reduction.value];
    for (int* const other : {&reduction.begins, &reduction.first, &reduction.last}) {
      if (*other >= 0) *other = new_body[*other];
    }
    if (reduction.partials >= 0) reduction.partials = new_operand[reduction.partials];
  }
}

SplitPlans split_plan(const KernelPlan& plan, IndexSpace& space, const std::vector<int>& partials,
                      const ir::Target& target) {
  SplitPlans plans{plan, plan};
  KernelPlan& parts = plans.parts;
  std::erase_if(parts.stores, [&](const Store& store) { return scans(plan) || !store.element; });
  add_partials(parts, partials, true);
  prune(parts, space);
  KernelPlan& combine = plans.combine;
  if (scans(plan)) {
    add_partials(combine, partials, false);
    return plans;
  }

  if (plan.least_part > 0) combine.parts_of = iterations(plan.inner);
  combine.split = 1;
  combine.vector = 1;
  combine.skewed = -1;
  combine.mapping = Mapping::rows;
  combine.inner = {{space.new_loop(plan.split), plan.split}};
  std::erase_if(combine.stores, [](const Store& store) { return store.element; });
  for (Reduction& reduction : combine.reductions)
    reduction.value = reduction.first = reduction.last = -1;
  add_partials(combine, partials, false);
  prune(combine, space);
  combine.threads_per_row = 1;
  combine.long_row = 0;
  if (ir::capabilities_of(target).blocks) {
    const Dim rows = iterations(plan.outer);
    const std::int64_t count = rows.is_constant() ? rows.constant() : 1 << 20;
    while (combine.threads_per_row < 256 && combine.threads_per_row < plan.split &&
           count * combine.threads_per_row < 1 << 14) {
      combine.threads_per_row *= 2;
    }
    combine.threads = 256;
  }
  return plans;
}

}  // namespace heddle::passes
