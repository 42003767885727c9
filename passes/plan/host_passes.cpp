#include <algorithm>
#include <ranges>

#include "ir/types/scalar.h"
#include "passes/plan/analyze.h"
#include "passes/plan/details.h"
#include "passes/plan/launch.h"

namespace heddle::passes {

namespace {

namespace reduce = heddle_scalar::reduce;

bool moves_bits(const Instruction& instruction) {
  const bool computes = instruction.kind == Instruction::Kind::cast ||
                        instruction.kind == Instruction::Kind::loop ||
                        instruction.kind == Instruction::Kind::looped;
  if (computes) return false;
  if (instruction.kind != Instruction::Kind::apply) return true;
  switch (instruction.op) {
    case ir::Op::select:
    case ir::Op::negative:
    case ir::Op::absolute:
    case ir::Op::fabs:
    case ir::Op::conjugate:
    case ir::Op::real:
      return true;
    default:
      return false;
  }
}

/// Whether the reduction compares elements by their bits, so that float16 needs no conversion.
bool takes_bits(const Reduction& reduction) {
  return reduction.op == ir::Op::min || reduction.op == ir::Op::max ||
         ir::finds_index(reduction.op);
}

/// Whether neighbouring iterations along the loop access neighbouring elements, and the address
/// depends on loops only.
bool is_run(const KernelPlan& plan, const Index& address, const Loop& loop) {
  return std::ranges::all_of(address.terms,
                             [&](const IndexTerm& term) {
                               return plan.space->atom(term.atom).kind == Atom::Kind::loop &&
                                      (term.atom != loop.atom || term.coefficient == Dim(1));
                             }) &&
         std::ranges::any_of(address.terms,
                             [&](const IndexTerm& term) { return term.atom == loop.atom; });
}

/// Stores of float16 values that are computed, not just copied.
std::vector<int> strip_stores(const KernelPlan& plan, const HostPass& pass, const Loop& loop) {
  std::vector<bool> computed(plan.body.size());
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    const Instruction& one = plan.body[i];
    computed[i] = !moves_bits(one) ||
                  (one.kind == Instruction::Kind::apply &&
                   std::ranges::any_of(one.arguments, [&](int k) { return computed[k]; }));
  }
  std::vector<int> result;
  for (const int i : pass.stores) {
    const Store& one = plan.stores[i];
    if (!one.combine && plan.operands[one.operand].dtype == DType::f16 && computed[one.value] &&
        is_run(plan, one.address, loop))
      result.push_back(i);
  }
  return result;
}

/// Loads of float16 whose numeric values are needed by arithmetic, by sums, or by the pass's
/// `strip_stores`.
std::vector<int> strip_loads(const KernelPlan& plan, const HostPass& pass, const Loop& loop) {
  std::vector<bool> asked(plan.body.size());
  for (const int i : pass.strip_stores) asked[plan.stores[i].value] = true;
  for (const Reduction& reduction : plan.reductions) {
    if (reduction.value >= 0 && !takes_bits(reduction)) asked[reduction.value] = true;
  }
  std::vector<int> roots, result;
  for (const int i : pass.reductions) roots.push_back(plan.reductions[i].value);
  for (const int i : pass.stores) {
    if (!plan.inner.empty()) {
      roots.push_back(plan.stores[i].value);
      continue;
    }
    for (const int need : needs_of(plan.stores[i])) roots.push_back(need);
  }
  for (const int i : std::views::reverse(needed(plan, roots, !plan.inner.empty()))) {
    const Instruction& one = plan.body[i];
    if (asked[i] || !moves_bits(one)) {
      for (const int argument : one.arguments) asked[argument] = true;
    }
    if (one.kind == Instruction::Kind::load && one.dtype == DType::f16 && asked[i] &&
        !one.guarded && is_run(plan, one.address, loop))
      result.push_back(i);
  }
  return result;
}

void choose_strips(const KernelPlan& plan, HostPass& pass, const Loop& loop) {
  pass.strip_stores = strip_stores(plan, pass, loop);
  pass.strip_loads = strip_loads(plan, pass, loop);
}

void choose_states(const KernelPlan& plan, HostPass& pass) {
  const bool in_runs = !pass.reductions.empty() &&
                       order_of(plan.reductions[pass.reductions[0]]) == CombineOrder::columns;
  if (in_runs || segmented(plan) != nullptr) return;
  // Independent states, so that the compiler can combine a whole vector of them at once.
  pass.states = 64;
  for (const int i : pass.reductions) {
    const Reduction& reduction = plan.reductions[i];
    const auto bytes = static_cast<int>(state_bytes(reduction));
    if (has_order(reduction)) pass.state_bytes = bytes;
    if (bytes > 1) pass.states = std::min(pass.states, 32);
    if (ir::finds_index(reduction.op)) pass.states = 4;
  }
  const Dim row = iterations(plan.inner);
  if (pass.state_bytes == 0) {
    // A row that does not fill the states once is combined in one of them.
    if (row.is_constant() && row.constant() < pass.states) pass.states = 1;
    return;
  }
  pass.in_blocks = !row.is_constant() || row.constant() > reduce::block_length(pass.state_bytes);
  pass.states = row.is_constant() ? reduce::lanes_of(row.constant(), pass.state_bytes) : 0;
}

/// GCC 12 does not vectorise over several rows if keys and indices differ in width.
int rows_at_once(const KernelPlan& plan, const HostPass& pass) {
  const bool places = std::ranges::any_of(
      pass.reductions, [&](int i) { return finds_index_by_key(plan.reductions[i]); });
  return places || plan.body.size() > 12 ? 1 : 4;
}

/// Assigns the reductions of a stage to shared passes. Empty passes are left out.
std::vector<HostPass> shared_passes(const KernelPlan& plan, int stage) {
  const bool rows = plan.mapping == Mapping::rows;
  // Passes over rows: row order with small states, row order with larger states, column order,
  // argmin and argmax of complex numbers. Passes over columns: in sequence, row order with small
  // states, row order with larger states.
  std::vector<HostPass> passes(4);
  std::vector<int> unordered;
  for (std::size_t k = 0; k < plan.reductions.size(); ++k) {
    const Reduction& reduction = plan.reductions[k];
    if (reduction.stage != stage || (rows && finds_index_by_key(reduction))) continue;
    const int i = static_cast<int>(k);
    const std::size_t large = state_bytes(reduction) <= 4 ? 0 : 1;
    const CombineOrder order = order_of(reduction);
    if (!rows) {
      passes[order == CombineOrder::rows ? 1 + large : 0].reductions.push_back(i);
    } else if (order == CombineOrder::any) {
      (ir::finds_index(reduction.op) ? passes[3].reductions : unordered).push_back(i);
    } else {
      passes[order == CombineOrder::rows ? large : 2].reductions.push_back(i);
    }
  }
  std::vector<int>& widest = passes[passes[0].reductions.empty() ? 1 : 0].reductions;
  widest.insert(widest.end(), unordered.begin(), unordered.end());
  std::erase_if(passes, [](const HostPass& pass) { return pass.reductions.empty(); });
  return passes;
}

/// The stage's stores belong to its first pass.
std::vector<HostPass> stage_passes(const KernelPlan& plan, int stage) {
  std::vector<HostPass> passes = shared_passes(plan, stage);
  std::vector<int> stores;
  for (std::size_t i = 0; i < plan.stores.size(); ++i) {
    if (plan.stores[i].element && plan.stores[i].stage == stage)
      stores.push_back(static_cast<int>(i));
  }
  if (passes.empty() && !stores.empty()) passes.emplace_back();
  if (!passes.empty()) passes[0].stores = std::move(stores);
  for (HostPass& pass : passes) {
    pass.stage = stage;
    if (plan.mapping == Mapping::columns) {
      pass.rows_at_once = rows_at_once(plan, pass);
      continue;
    }
    choose_states(plan, pass);
    choose_strips(plan, pass, plan.inner.back());
  }
  return passes;
}

}  // namespace

bool finds_index_by_key(const Reduction& reduction) {
  return reduction.value >= 0 && !is_complex(reduction.dtype) && ir::finds_index(reduction.op);
}

std::vector<HostPass> host_passes(const KernelPlan& plan) {
  std::vector<HostPass> passes;
  if (plan.mapping == Mapping::elements && !plan.outer.empty()) {
    HostPass& all = passes.emplace_back();
    for (std::size_t i = 0; i < plan.stores.size(); ++i) all.stores.push_back(static_cast<int>(i));
    choose_strips(plan, all, plan.outer.back());
  }
  const bool reduces = plan.mapping == Mapping::rows || plan.mapping == Mapping::columns;
  const bool combines_parts = std::ranges::any_of(
      plan.reductions, [](const Reduction& reduction) { return reduction.value < 0; });
  if (!reduces || combines_parts) return passes;
  for (int stage = 0; stage < plan.stages; ++stage) {
    for (HostPass& pass : stage_passes(plan, stage)) passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace heddle::passes
