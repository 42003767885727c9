#include "passes/plan/sums_about.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/types/capabilities.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/plan/split.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

ValueId below_views(const Graph& graph, ValueId value) {
  while (ir::is_view(graph.op(value))) value = graph.operands(value)[0];
  return value;
}

bool reads(const Graph& graph, ValueId user, ValueId value) {
  return std::ranges::any_of(graph.operands(user),
                             [&](ValueId operand) { return below_views(graph, operand) == value; });
}

/// Whether all members that use the value have this op, and none of them reads it from memory.
bool only_used_by(const Graph& graph, const Group& group, ValueId value, ir::Op op) {
  return std::ranges::find(group.stored, value) == group.stored.end() &&
         std::ranges::all_of(group.members, [&](ValueId user) {
           return !reads(graph, user, value) || graph.op(user) == op;
         });
}

/// Whether a number of a row depends on reductions of the row only through the maximum of x.
bool is_of_maximum(const KernelPlan& plan, int number, int x) {
  const Instruction& one = plan.body[number];
  if (one.reduction >= 0) {
    const Reduction& reduction = plan.reductions[static_cast<std::size_t>(one.reduction)];
    return reduction.op == ir::Op::max && reduction.value == x;
  }
  return std::ranges::all_of(one.arguments,
                             [&](int argument) { return is_of_maximum(plan, argument, x); });
}

/// A sum of exp(x - m), where m is one number for the row: instructions.
struct About {
  int x, m;
};

std::optional<About> about(const KernelPlan& plan, const Reduction& reduction) {
  const bool sums = reduction.op == ir::Op::sum && !reduction.scan && reduction.value >= 0 &&
                    reduction.first < 0 && reduction.about == SumAbout::nothing &&
                    (reduction.dtype == DType::f32 || reduction.dtype == DType::f64);
  if (!sums) return std::nullopt;
  const auto applies = [&](int instruction, ir::Op op) {
    const Instruction& one = plan.body[instruction];
    return one.kind == Instruction::Kind::apply && one.op == op;
  };
  if (!applies(reduction.value, ir::Op::exp)) return std::nullopt;
  const int exponent = plan.body[reduction.value].arguments[0];
  if (!applies(exponent, ir::Op::subtract)) return std::nullopt;
  const std::vector<int>& difference = plan.body[exponent].arguments;
  const Instruction &x = plan.body[difference[0]], &m = plan.body[difference[1]];
  if (m.element || !x.element || x.stage >= m.stage) return std::nullopt;
  if (!is_of_maximum(plan, difference[1], difference[0])) return std::nullopt;
  return About{difference[0], difference[1]};
}

/// Copies a plan, with the sums about m replaced.
class Replacement {
 public:
  explicit Replacement(const KernelPlan& plan) : plan_(plan), result_(plan) {
    result_.body.clear();
  }

  KernelPlan run() {
    for (const Instruction& old : plan_.body) {
      Instruction copy = old;
      for (int& argument : copy.arguments) argument = numbers_[argument];
      const int number = push(std::move(copy));
      numbers_.push_back(old.reduction >= 0 ? moved(number, old) : number);
    }
    for (Store& store : result_.stores) store.value = numbers_[store.value];
    for (Reduction& reduction : result_.reductions) reduction.value = numbers_[reduction.value];
    return std::move(result_);
  }

 private:
  int push(Instruction instruction) {
    result_.body.push_back(std::move(instruction));
    return static_cast<int>(result_.body.size()) - 1;
  }

  int apply(ir::Op op, const Instruction& like, std::vector<int> arguments) {
    Instruction applied = Instruction::of(Instruction::Kind::apply, like.dtype);
    applied.op = op;
    applied.arguments = std::move(arguments);
    applied.source = like.source;
    return push(std::move(applied));
  }

  /// The sum about m, where `sum` becomes that about r.
  int moved(int sum, const Instruction& old) {
    const std::optional<About> found =
        about(plan_, plan_.reductions[static_cast<std::size_t>(old.reduction)]);
    if (!found) return sum;
    Reduction& reduction = result_.reductions[static_cast<std::size_t>(old.reduction)];
    reduction.about = SumAbout::greatest;
    reduction.value = found->x;
    Instruction reference = old;
    reference.part = StatePart::reference;
    const int r = push(std::move(reference));
    const int distance = apply(ir::Op::subtract, old, {r, numbers_[found->m]});
    return apply(ir::Op::multiply, old, {sum, apply(ir::Op::exp, old, {distance})});
  }

  const KernelPlan& plan_;
  KernelPlan result_;
  std::vector<int> numbers_;  ///< of the instructions, in the result
};

/// Whether blocks can hold the rows, which are then read once anyway.
bool are_held(const KernelPlan& plan, const ir::Target& target) {
  const Dim row = iterations(plan.inner);
  std::int64_t bytes = 0;
  for (const Instruction* load : element_loads(plan))
    bytes += static_cast<std::int64_t>(size_of(load->dtype));
  return row.is_constant() &&
         row.constant() <= elements_held(bytes, !reads_columnwise(plan, target), target);
}

}  // namespace

bool only_centres_sums(const Graph& graph, const Group& group, ValueId reduction) {
  if (graph.op(reduction) != ir::Op::max) return false;
  std::vector<ValueId> of_row = {reduction};
  const auto is_of_row = [&](ValueId value) {
    return std::ranges::find(of_row, below_views(graph, value)) != of_row.end();
  };
  const Dim rows = ir::element_count(graph.shape(reduction));
  for (std::size_t i = group.members.size(); i-- > 0;) {
    const ValueId user = group.members[i];
    if (std::ranges::none_of(graph.operands(user), is_of_row)) continue;
    if (ir::element_count(graph.shape(user)) == rows && !ir::is_reduction(graph.op(user))) {
      of_row.push_back(user);
      continue;
    }
    const DType dtype = graph.dtype(user);
    const bool is_difference = graph.op(user) == ir::Op::subtract &&
                               !is_of_row(graph.operands(user)[0]) &&
                               (dtype == DType::f32 || dtype == DType::f64);
    if (!is_difference || !only_used_by(graph, group, user, ir::Op::exp)) return false;
    for (const ValueId term : group.members) {
      if (reads(graph, term, user) && !only_used_by(graph, group, term, ir::Op::sum)) return false;
    }
  }
  return true;
}

bool sum_in_one_pass(KernelPlan& plan, IndexSpace& space, const ir::Target& target) {
  if (!ir::capabilities_of(target).blocks || plan.stages < 2 || !plan.element_loops.empty() ||
      are_held(plan, target))
    return false;
  const bool has_values = std::ranges::any_of(
      plan.body, [&](const Instruction& one) { return plan.space->is_by_value(one.address); });
  const bool applies = std::ranges::any_of(plan.reductions, [&](const Reduction& reduction) {
    return about(plan, reduction).has_value();
  });
  if (has_values || !applies) return false;
  KernelPlan result = Replacement(plan).run();
  prune(result, space);
  assign_stages(result);
  if (result.stages >= plan.stages) return false;
  plan = std::move(result);
  return true;
}

}  // namespace heddle::passes
