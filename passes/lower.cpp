#include "passes/lower.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "heddle/error.h"

namespace heddle::passes {

namespace {

constexpr int no_guard = -1;

class Lowering {
 public:
  Lowering(const LowerContext& context, const Group& group)
      : context_(context), graph_(context.graph), space_(context.space), group_(group) {
    for (const ValueId member : group.members) members_.insert(index_of(member));
  }

  KernelPlan run() {
    for (const AtomId loop : group_.outer) plan_.outer.push_back({loop, space_.atom(loop).extent});
    for (const AtomId loop : group_.inner) plan_.inner.push_back({loop, space_.atom(loop).extent});
    plan_.space = &space_;
    for (std::size_t i = 0; i < group_.stored.size(); ++i) {
      const bool is_region = group_.in_place && group_.stored[i] == group_.root;
      is_region ? store_region() : store(group_.stored[i], group_.stored_maps[i]);
    }
    return std::move(plan_);
  }

 private:
  int emit(ValueId node, const IndexMap& map, int guard);
  int emit_new(ValueId node, const IndexMap& map, int guard);
  int emit_concatenate(ValueId node, const IndexMap& map, int guard);
  int emit_slice_update(ValueId node, const IndexMap& map, int guard);
  int emit_reduction(ValueId node, const IndexMap& map);
  int emit_load(ValueId value, const IndexMap& map, int guard);
  int emit_within(const Index& index, Dim begin, Dim end, std::int64_t step, int guard);
  int apply(ir::Op op, DType dtype, std::vector<int> arguments, ValueId source);
  int push(Instruction instruction, ValueId source);
  int operand_slot(ValueId value, bool written);
  void store(ValueId node, const IndexMap& map);
  void store_region();

  const LowerContext& context_;
  const Graph& graph_;
  IndexSpace& space_;
  const Group& group_;
  KernelPlan plan_;
  std::unordered_set<std::uint32_t> members_;
  std::unordered_map<std::string, int> emitted_;
  std::unordered_map<std::uint32_t, int> reductions_;
};

std::string memo_key(ValueId node, const IndexMap& map, int guard) {
  std::string key = std::to_string(index_of(node)) + '?' + std::to_string(guard);
  for (const Index& index : map) {
    key += ';' + index.offset.to_string();
    for (const IndexTerm& term : index.terms) {
      key += '+' + term.coefficient.to_string() + '@' +
             std::to_string(static_cast<std::uint32_t>(term.atom));
    }
  }
  return key;
}

int Lowering::emit(ValueId node, const IndexMap& map, int guard) {
  std::string key = memo_key(node, map, guard);
  if (const auto found = emitted_.find(key); found != emitted_.end()) return found->second;
  const int result = emit_new(node, map, guard);
  emitted_.emplace(std::move(key), result);
  return result;
}

int Lowering::emit_new(ValueId node, const IndexMap& map, int guard) {
  const ir::Op op = graph_.op(node);
  const ir::Attributes& attributes = graph_.attributes(node);
  const bool is_member = members_.count(index_of(node)) != 0;
  if (op == ir::Op::parameter && attributes.scalar) {
    Instruction scalar = Instruction::of(Instruction::Kind::scalar, graph_.dtype(node));
    scalar.scalar = attributes.index;
    return push(std::move(scalar), node);
  }
  if (op == ir::Op::parameter || (context_.stored[index_of(node)] && !is_member))
    return emit_load(node, map, guard);
  if (op == ir::Op::constant) {
    Instruction constant = Instruction::of(Instruction::Kind::constant, graph_.dtype(node));
    constant.bits = attributes.bits;
    return push(std::move(constant), node);
  }
  if (ir::is_view(op))
    return emit(graph_.operands(node)[0], operand_map(space_, graph_, node, 0, map), guard);
  if (!is_member)
    throw InternalError("lower: a value is neither stored nor part of the group that uses it");
  if (op == ir::Op::iota) {
    Instruction index = Instruction::of(Instruction::Kind::index, graph_.dtype(node));
    index.address = map[attributes.axes[0]];
    return push(std::move(index), node);
  }
  if (op == ir::Op::concatenate) return emit_concatenate(node, map, guard);
  if (op == ir::Op::slice_update) return emit_slice_update(node, map, guard);
  if (ir::is_reduction(op)) return emit_reduction(node, map);
  std::vector<int> arguments;
  for (std::size_t k = 0; k < graph_.operands(node).size(); ++k) {
    arguments.push_back(
        emit(graph_.operands(node)[k], operand_map(space_, graph_, node, k, map), guard));
  }
  if (op == ir::Op::cast) {
    Instruction cast = Instruction::of(Instruction::Kind::cast, graph_.dtype(node));
    cast.arguments = std::move(arguments);
    return push(std::move(cast), node);
  }
  return apply(op, graph_.dtype(node), std::move(arguments), node);
}

int Lowering::emit_load(ValueId value, const IndexMap& map, int guard) {
  Instruction load = Instruction::of(Instruction::Kind::load, graph_.dtype(value));
  load.operand = operand_slot(value, false);
  load.address = linear_index(space_, map, graph_.shape(value));
  if (guard != no_guard) load.arguments = {guard};
  return push(std::move(load), value);
}

int Lowering::emit_within(const Index& index, Dim begin, Dim end, std::int64_t step, int guard) {
  Instruction within = Instruction::of(Instruction::Kind::within, DType::boolean);
  within.address = index;
  within.begin = begin;
  within.end = end;
  within.step = step;
  const int inside = push(std::move(within), {});
  return guard == no_guard ? inside
                           : apply(ir::Op::logical_and, DType::boolean, {inside, guard}, {});
}

// Every part is computed under a guard that lets its loads touch memory only inside it.
int Lowering::emit_concatenate(ValueId node, const IndexMap& map, int guard) {
  const auto axis = static_cast<std::size_t>(graph_.attributes(node).axes[0]);
  Dim begin;
  int result = -1;
  for (std::size_t k = 0; k < graph_.operands(node).size(); ++k) {
    const ValueId part = graph_.operands(node)[k];
    const Dim end = begin + graph_.shape(part)[axis];
    const int inside = emit_within(map[axis], begin, end, 1, guard);
    const int value = emit(part, operand_map(space_, graph_, node, k, map), inside);
    result = result < 0 ? value
                        : apply(ir::Op::select, graph_.dtype(node), {inside, value, result}, node);
    begin = end;
  }
  return result;
}

int Lowering::emit_slice_update(ValueId node, const IndexMap& map, int guard) {
  const ir::Attributes& attributes = graph_.attributes(node);
  int inside = guard;
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    const std::int64_t step = attributes.steps[axis];
    const Dim extent = attributes.shape[axis];
    if (extent == graph_.shape(node)[axis] && (step == 1 || step == -1)) continue;
    const Dim last = attributes.starts[axis] + (extent - Dim(1)) * Dim(step);
    const Dim low = step > 0 ? attributes.starts[axis] : last;
    const Dim high = step > 0 ? last : attributes.starts[axis];
    inside = emit_within(map[axis], low, high + Dim(1), step > 0 ? step : -step, inside);
  }
  const int value =
      emit(graph_.operands(node)[1], operand_map(space_, graph_, node, 1, map), inside);
  if (inside == guard) return value;
  const int base = emit(graph_.operands(node)[0], operand_map(space_, graph_, node, 0, map), guard);
  return apply(ir::Op::select, graph_.dtype(node), {inside, value, base}, node);
}

int Lowering::emit_reduction(ValueId node, const IndexMap& map) {
  auto [entry, is_new] = reductions_.try_emplace(index_of(node), 0);
  if (is_new) {
    Reduction reduction;
    reduction.op = graph_.op(node);
    reduction.dtype = graph_.dtype(graph_.operands(node)[0]);
    reduction.source = node;
    const IndexMap operand = operand_map(space_, graph_, node, 0, map, group_.inner);
    reduction.value = emit(graph_.operands(node)[0], operand, no_guard);
    plan_.reductions.push_back(reduction);
    entry = reductions_.find(index_of(node));
    entry->second = static_cast<int>(plan_.reductions.size()) - 1;
  }
  Instruction reduced = Instruction::of(Instruction::Kind::reduced, graph_.dtype(node));
  reduced.reduction = entry->second;
  return push(std::move(reduced), node);
}

int Lowering::apply(ir::Op op, DType dtype, std::vector<int> arguments, ValueId source) {
  Instruction instruction = Instruction::of(Instruction::Kind::apply, dtype);
  instruction.op = op;
  instruction.arguments = std::move(arguments);
  return push(std::move(instruction), source);
}

int Lowering::push(Instruction instruction, ValueId source) {
  instruction.source = source;
  plan_.body.push_back(std::move(instruction));
  return static_cast<int>(plan_.body.size()) - 1;
}

int Lowering::operand_slot(ValueId value, bool written) {
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    if (plan_.operands[i].value == value && plan_.operands[i].written == written)
      return static_cast<int>(i);
  }
  KernelOperand operand;
  operand.value = value;
  operand.dtype = graph_.dtype(value);
  operand.written = written;
  plan_.operands.push_back(operand);
  return static_cast<int>(plan_.operands.size()) - 1;
}

void Lowering::store(ValueId node, const IndexMap& map) {
  Store store;
  store.value = emit(node, map, no_guard);
  store.operand = operand_slot(node, true);
  store.address = linear_index(space_, map, graph_.shape(node));
  plan_.stores.push_back(std::move(store));
}

void Lowering::store_region() {
  const ir::Attributes& attributes = graph_.attributes(group_.root);
  IndexMap region(attributes.shape.size()), target(attributes.shape.size());
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < region.size(); ++axis) {
    if (!(attributes.shape[axis] == Dim(1))) region[axis] = space_.loop(group_.outer[next++]);
    target[axis] = space_.add({attributes.starts[axis], {}},
                              space_.scale(region[axis], attributes.steps[axis]));
  }
  const ValueId value = graph_.operands(group_.root)[1];
  Store store;
  store.value = emit(value, region_value_map(region, graph_.shape(value)), no_guard);
  store.operand = operand_slot(group_.root, true);
  store.address = linear_index(space_, target, graph_.shape(group_.root));
  plan_.stores.push_back(std::move(store));
}

}  // namespace

KernelPlan lower(const LowerContext& context, const Group& group) {
  return Lowering(context, group).run();
}

}  // namespace heddle::passes
