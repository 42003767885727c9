#include "passes/lower/lower.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "ir/calls/control.h"
#include "ir/calls/user_map.h"
#include "ir/types/reduction_order.h"
#include "passes/calls/lowering.h"
#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"
#include "passes/lower/element_loops.h"
#include "passes/lower/loop_reduction.h"
#include "passes/lower/places.h"
#include "passes/lower/unrolled_reduction.h"

namespace heddle::passes {

namespace {

/// The place that most operands have; of several, that of the last operand.
std::uint32_t most_frequent_operand(const Place& place) {
  const auto count = [&](const Place::Use& use) {
    return std::ranges::count(place.operands, use.place, &Place::Use::place);
  };
  return std::ranges::max_element(place.operands.rbegin(), place.operands.rend(), {}, count)->place;
}

class Lowering {
 public:
  Lowering(const LowerContext& context, const Group& group)
      : graph_(context.graph),
        space_(context.space),
        group_(group),
        places_(context.graph, context.space, group, context.stored) {}

  KernelPlan run() {
    for (const AtomId loop : group_.outer) plan_.outer.push_back({loop, space_.atom(loop).extent});
    for (const AtomId loop : group_.inner) plan_.inner.push_back({loop, space_.atom(loop).extent});
    plan_.space = &space_;
    std::vector<Root> roots;
    for (std::size_t i = 0; i < group_.stored.size(); ++i) {
      const ValueId stored = group_.stored[i];
      const bool is_region = group_.in_place && stored == group_.root;
      // A copy of a scattered array reads it.
      const bool anywhere = writes_anywhere(graph_, stored) && !places_.is_load(stored);
      const bool in_steps = is_stacked(graph_, stored) && !places_.is_load(stored);
      roots.push_back(is_region                           ? region(group_.stored_maps[i])
                      : in_steps                          ? written(stored, group_.stored_maps[i])
                      : !anywhere                         ? whole(stored, group_.stored_maps[i])
                      : ir::is_scatter(graph_.op(stored)) ? scattered(stored)
                                                          : written(stored, group_.stored_maps[0]));
    }
    places_.settle();
    for (Root& root : roots) {
      emit_up_to(root.place);
      root.store.value = instructions_[root.place];
      if (root.store.combine) aim(root);
      root.store.operand = operand_slot(root.stored, true);
      plan_.stores.push_back(std::move(root.store));
    }
    return std::move(plan_);
  }

 private:
  /// A value instance that the kernel stores to memory.
  struct Root {
    ValueId stored;
    std::uint32_t place;
    Store store;
    std::vector<std::uint32_t> indices = {};  ///< value instances that give the index
  };

  Root whole(ValueId node, const IndexMap& map);
  Root region(const IndexMap& map);
  Root scattered(ValueId node);
  Root written(ValueId node, const IndexMap& map);
  void emit_up_to(std::uint32_t place);
  void aim(Root& root);
  int emit(const Place& place);
  int emit_load(const Place& place);
  int emit_choice(const Place& place);
  bool is_zero(int instruction) const;
  bool is_zero_outside(const Place::Use& use) const;
  int emit_unrolled(const Place& place);
  int emit_user_map(const Place& place);  ///< or a user.write
  int emit_array(int operand, ValueId value);
  int emit_element_loop(const Place& place);
  Index address_in_step(ValueId array, const IndexMap& map, Dim length);
  Index addressed(const Index& index, std::vector<int>& needed);
  int emit_position(AtomId gathered);
  int emit_guard(const Guard& guard);
  int emit_condition(std::uint32_t id);
  int apply(ir::Op op, DType dtype, std::vector<int> arguments, ValueId source);
  int push(Instruction instruction, ValueId source);
  int operand_slot(ValueId value, bool written);
  std::vector<int> values_of(const Place& place) const;

  const Graph& graph_;
  IndexSpace& space_;
  const Group& group_;
  Places places_;
  KernelPlan plan_;
  ElementLoops loops_{plan_};
  std::vector<int> instructions_;  ///< of each value instance that has been emitted
  std::map<std::uint32_t, int> conditions_;
  std::map<AtomId, Index> positions_;
  std::map<Guard, int> guards_;
  std::map<int, Guard> guarded_loads_;
};

Lowering::Root Lowering::whole(ValueId node, const IndexMap& map) {
  Root root{node, places_.add_root(node, map), {}};
  root.store.address = linear_index(space_, map, graph_.shape(node));
  return root;
}

// The value of an in-place update is stored to its region of the base.
Lowering::Root Lowering::region(const IndexMap& map) {
  const ir::Attributes& attributes = graph_.attributes(group_.root);
  IndexMap target(map.size());
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    target[axis] =
        space_.add({attributes.starts[axis], {}}, space_.scale(map[axis], attributes.steps[axis]));
  }
  const ValueId value = graph_.operands(group_.root)[1];
  Root root{group_.root, places_.add_root(value, region_value_map(map, graph_.shape(value))), {}};
  root.store.address = linear_index(space_, target, graph_.shape(group_.root));
  return root;
}

// Each element of the operands' broadcast shape is stored at the position that its indices give.
Lowering::Root Lowering::scattered(ValueId node) {
  const std::span<const ValueId> operands = graph_.operands(node);
  const IndexMap& map = group_.stored_maps[0];
  const auto place_of = [&](std::size_t k) {
    return places_.add_root(operands[k], operand_map(space_, graph_, node, k, map));
  };
  Root root{node, place_of(0), {}};
  root.store.combine = graph_.op(node);
  for (std::size_t k = 1; k < operands.size(); ++k) root.indices.push_back(place_of(k));
  return root;
}

// A user's function, or the steps of a loop, write to the array.
Lowering::Root Lowering::written(ValueId node, const IndexMap& map) {
  Root root{node, places_.add_root(node, map), {}};
  root.store.by_value = true;
  return root;
}

void Lowering::aim(Root& root) {
  const ir::Shape& shape = graph_.shape(root.stored);
  const std::vector<std::int64_t>& axes = graph_.attributes(root.stored).axes;
  IndexMap target = group_.stored_maps[0];
  for (std::size_t k = 0; k < axes.size(); ++k) {
    emit_up_to(root.indices[k]);
    const auto axis = static_cast<std::size_t>(axes[k]);
    const int index = instructions_[root.indices[k]];
    const auto of_index = [&](Instruction::Kind kind, DType dtype) {
      Instruction instruction = Instruction::of(kind, dtype);
      instruction.arguments = {index};
      instruction.end = shape[axis];
      return push(std::move(instruction), root.stored);
    };
    const int inside = of_index(Instruction::Kind::inside, DType::boolean);
    root.store.guard = root.store.guard < 0 ? inside
                                            : apply(ir::Op::logical_and, DType::boolean,
                                                    {root.store.guard, inside}, root.stored);
    root.store.positions.push_back(of_index(Instruction::Kind::position, DType::i64));
    target[axis] =
        space_.computed(static_cast<std::uint32_t>(root.store.positions.back()), shape[axis]);
  }
  root.store.address = linear_index(space_, target, shape);
}

void Lowering::emit_up_to(std::uint32_t place) {
  while (instructions_.size() <= place)
    instructions_.push_back(emit(places_.all()[instructions_.size()]));
}

int Lowering::emit(const Place& place) {
  const ValueId node = place.node;
  const ir::Op op = graph_.op(node);
  const ir::Attributes& attributes = graph_.attributes(node);
  if (places_.is_load(node)) return emit_load(place);
  if (op == ir::Op::concatenate || op == ir::Op::slice_update) return emit_choice(place);
  if (places_.is_unrolled(node)) return emit_unrolled(place);
  if (ir::is_reduction(op) || ir::is_scan(op))
    return add_loop_reduction(plan_, graph_, node, values_of(place));
  if (is_user_function(graph_, node)) return emit_user_map(place);
  if (op == ir::Op::call) return emit_element_loop(place);
  Instruction instruction = Instruction::of(Instruction::Kind::apply, graph_.dtype(node));
  instruction.op = op;
  instruction.arguments = values_of(place);
  if (op == ir::Op::parameter) {
    instruction.kind = Instruction::Kind::scalar;
    instruction.scalar = attributes.index;
  } else if (op == ir::Op::constant) {
    instruction.kind = Instruction::Kind::constant;
    instruction.bits = attributes.bits;
  } else if (op == ir::Op::iota) {
    instruction.kind = Instruction::Kind::index;
    instruction.address = addressed(place.map[attributes.axes[0]], instruction.arguments);
  } else if (op == ir::Op::cast) {
    instruction.kind = Instruction::Kind::cast;
  } else if (ir::is_search(op)) {
    const ValueId sorted = strip_reshapes(graph_, graph_.operands(node)[0]);
    instruction.kind = Instruction::Kind::search;
    instruction.operand = operand_slot(sorted, false);
    instruction.end = ir::element_count(graph_.shape(sorted));
  }
  return push(std::move(instruction), node);
}

std::vector<int> Lowering::values_of(const Place& place) const {
  std::vector<int> values;
  for (const Place::Use& use : place.operands) values.push_back(instructions_[use.place]);
  return values;
}

int Lowering::emit_load(const Place& place) {
  Instruction load = Instruction::of(Instruction::Kind::load, graph_.dtype(place.node));
  load.guarded = !place.guard.empty();
  if (load.guarded) load.arguments = {emit_guard(place.guard)};
  load.operand = operand_slot(place.node, false);
  load.address =
      addressed(linear_index(space_, place.map, graph_.shape(place.node)), load.arguments);
  const int result = push(std::move(load), place.node);
  if (!place.guard.empty()) guarded_loads_.emplace(result, place.guard);
  return result;
}

// Parts of a concatenation, or a slice_update's value over its base, are chosen by their guards.
// The part that occurs most often, as the value around a padded array, needs none. If that is 0, a
// load that is 0 outside of its guard needs no choice either.
int Lowering::emit_choice(const Place& place) {
  const std::uint32_t other = most_frequent_operand(place);
  const int otherwise = instructions_[other];
  int result = otherwise;
  for (const Place::Use& use : std::views::reverse(place.operands)) {
    if (use.place == other) continue;
    const int value = instructions_[use.place];
    result = result == otherwise && is_zero(otherwise) && is_zero_outside(use)
                 ? value
                 : apply(ir::Op::select, graph_.dtype(place.node),
                         {emit_guard(use.inside), value, result}, place.node);
  }
  return result;
}

bool Lowering::is_zero(int instruction) const {
  const Instruction& one = plan_.body[static_cast<std::size_t>(instruction)];
  return one.kind == Instruction::Kind::constant && one.bits == ir::ElementBits{};
}

/// Whether the value is a load, or one without a choice, that is only made if the guard holds.
bool Lowering::is_zero_outside(const Place::Use& use) const {
  const auto found = guarded_loads_.find(instructions_[use.place]);
  return found != guarded_loads_.end() && std::ranges::includes(found->second, use.inside);
}

int Lowering::emit_unrolled(const Place& place) {
  const ValueId operand = graph_.operands(place.node)[0];
  const UnrolledReduction reduction{
      graph_.op(place.node), graph_.dtype(operand),
      ir::reduces_columns(graph_.shape(operand), graph_.attributes(place.node).axes), place.node};
  return add_reduction(plan_, reduction, values_of(place));
}

int Lowering::emit_user_map(const Place& place) {
  const bool writes = is_user_write(graph_, place.node);
  const std::vector<int> elements = values_of(place);
  std::vector<int> arguments;
  const std::size_t inputs = ir::user_function(*graph_.attributes(place.node).call).inputs.size();
  for (std::size_t k = 0, next = 0; k < graph_.operands(place.node).size(); ++k) {
    if (writes && k >= inputs) break;  // the array holds it already
    if (!reads_whole(graph_, place.node, k)) {
      arguments.push_back(elements[next++]);
      continue;
    }
    const ValueId operand = graph_.operands(place.node)[k];
    arguments.push_back(emit_array(operand_slot(strip_reshapes(graph_, operand), false), operand));
  }
  if (writes) arguments.push_back(emit_array(operand_slot(place.node, true), place.node));
  Instruction call = Instruction::of(Instruction::Kind::user, graph_.dtype(place.node));
  call.function = graph_.attributes(place.node).call;
  call.arguments = std::move(arguments);
  return push(std::move(call), place.node);
}

int Lowering::emit_array(int operand, ValueId value) {
  Instruction array = Instruction::of(Instruction::Kind::array, graph_.dtype(value));
  array.operand = operand;
  array.extents = graph_.shape(value);
  return push(std::move(array), value);
}

int Lowering::emit_element_loop(const Place& place) {
  const ir::CallData& call = *graph_.attributes(place.node).call;
  const Dim length = ir::scan_length(call);
  std::vector<ElementLoops::Sequence> sequences;
  for (std::size_t k = 0; k < graph_.operands(place.node).size(); ++k) {
    if (!reads_whole(graph_, place.node, k)) continue;
    const ValueId operand = graph_.operands(place.node)[k];
    sequences.push_back({operand_slot(strip_reshapes(graph_, operand), false),
                         graph_.dtype(operand), address_in_step(operand, place.map, length)});
  }
  const std::vector<int> values = values_of(place);
  if (!ir::is_stacked(call)) return loops_.add(call, values, sequences, place.node);
  const int result = operand_slot(place.node, true);
  return loops_.add_stacked(call, values, sequences, result,
                            address_in_step(place.node, place.map, length), place.node);
}

/// The element, in a step of a loop, of an array whose first axis is that of the steps.
Index Lowering::address_in_step(ValueId array, const IndexMap& map, Dim length) {
  const ir::Shape& shape = graph_.shape(array);
  IndexMap whole = broadcast_map(map, {shape.begin() + 1, shape.end()});
  whole.insert(whole.begin(), space_.loop(loops_.step_of(length, space_)));
  return linear_index(space_, whole, shape);
}

/// Replaces values of the program in the index by instructions, and appends these to `needed`.
Index Lowering::addressed(const Index& index, std::vector<int>& needed) {
  return space_.with_values(index, [&](AtomId gathered) {
    const int position = emit_position(gathered);
    if (std::find(needed.begin(), needed.end(), position) == needed.end())
      needed.push_back(position);
    return positions_.at(gathered);
  });
}

int Lowering::emit_position(AtomId gathered) {
  const auto found = positions_.find(gathered);
  if (found != positions_.end())
    return static_cast<int>(space_.atom(found->second.terms[0].atom).value);
  Instruction position = Instruction::of(Instruction::Kind::position, DType::i64);
  position.arguments = {instructions_[places_.index_place(gathered)]};
  position.end = space_.atom(gathered).extent;
  const int result = push(std::move(position), {});
  positions_[gathered] =
      space_.computed(static_cast<std::uint32_t>(result), space_.atom(gathered).extent);
  return result;
}

// Guards of nested updates are extensions of each other, so each prefix is computed once.
int Lowering::emit_guard(const Guard& guard) {
  if (guard.size() == 1) return emit_condition(guard[0]);
  if (const auto found = guards_.find(guard); found != guards_.end()) return found->second;
  const int shorter = emit_guard({guard.begin(), guard.end() - 1});
  const int last = emit_condition(guard.back());
  return guards_[guard] = apply(ir::Op::logical_and, DType::boolean, {shorter, last}, {});
}

int Lowering::emit_condition(std::uint32_t id) {
  if (const auto found = conditions_.find(id); found != conditions_.end()) return found->second;
  const Condition& condition = places_.condition(id);
  Instruction within = Instruction::of(Instruction::Kind::within, DType::boolean);
  within.address = addressed(condition.index, within.arguments);
  within.begin = condition.begin;
  within.end = condition.end;
  within.step = condition.step;
  return conditions_[id] = push(std::move(within), {});
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

}  // namespace

KernelPlan lower(const LowerContext& context, const Group& group) {
  return Lowering(context, group).run();
}

}  // namespace heddle::passes
