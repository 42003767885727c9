#include "passes/plan/skewed_rows.h"

#include <algorithm>

#include "passes/plan/analyze.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

constexpr int elements = 8;      // of a vector
constexpr std::size_t word = 4;  // bytes of an access that needs no vector

bool may_be_aligned(const KernelPlan& plan, const Instruction& load) {
  const bool is_plain = load.kind == Instruction::Kind::load && load.element &&
                        load.arguments.empty() && plan.operands[load.operand].aligned;
  return is_plain && runs_along(plan, load.address, plan.inner.back());
}

}  // namespace

bool is_aligned_in_skewed_rows(const KernelPlan& plan, const Instruction& load) {
  if (!may_be_aligned(plan, load)) return false;
  const Index& leader = plan.body[static_cast<std::size_t>(plan.skewed)].address;
  const Index apart = plan.space->add(load.address, plan.space->scale(leader, -1));
  return apart.offset.divisible_by(plan.vector) &&
         std::ranges::all_of(apart.terms, [&](const IndexTerm& term) {
           return term.coefficient.divisible_by(plan.vector);
         });
}

Index begin_of_row(const KernelPlan& plan, const Instruction& load) {
  Index begin = load.address;
  std::erase_if(begin.terms,
                [&](const IndexTerm& term) { return term.atom == plan.inner.back().atom; });
  return begin;
}

void skew_rows(KernelPlan& plan, const ir::Target& target) {
  const bool applies = plan.stages == 1 && plan.inner.size() == 1 &&
                       std::ranges::none_of(plan.stores, &Store::element) &&
                       std::ranges::none_of(plan.reductions, [](const Reduction& one) {
                         return ir::finds_index(one.op);
                       });
  if (!applies) return;
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    const Instruction& load = plan.body[i];
    const std::size_t bytes = size_of(load.dtype);
    if (!may_be_aligned(plan, load) || bytes * static_cast<std::size_t>(plan.vector) >= word ||
        static_cast<int>(bytes) * elements > target.vector_bytes)
      continue;
    plan.skewed = static_cast<int>(i);
    plan.vector = elements;
    return;
  }
}

}  // namespace heddle::passes
