#include "passes/pipeline/item_plan.h"

#include <algorithm>
#include <utility>

#include "passes/plan/analyze.h"

namespace heddle::passes {

namespace {

/// The number of last axes of a call's operands that form an item, and of axes before them.
std::size_t batch_axes_of(const Graph& graph, ValueId call) {
  return graph.shape(graph.operands(call)[0]).size() - graph.attributes(call).call->op->core_axes;
}

Dim items_of(const Graph& graph, ValueId call) {
  const ir::Shape& shape = graph.shape(graph.operands(call)[0]);
  const auto axes = static_cast<std::ptrdiff_t>(batch_axes_of(graph, call));
  return ir::element_count({shape.begin(), shape.begin() + axes});
}

/// The address without its batch loops: from the start of the item.
Index within_item(Index address, const std::vector<Loop>& batch) {
  std::erase_if(address.terms, [&](const IndexTerm& term) {
    return std::ranges::any_of(batch, [&](const Loop& loop) { return loop.atom == term.atom; });
  });
  return address;
}

bool same_loops(const std::vector<Loop>& a, const std::vector<Loop>& b) {
  return std::ranges::equal(a, b, {}, &Loop::atom, &Loop::atom);
}

}  // namespace

// The last array is a result: the call, or one of its further results.
ValueId call_of(const Graph& graph, const KernelPlan& plan, const ItemRoutine& routine) {
  const ValueId result = plan.operands[routine.arrays.back()].value;
  return graph.op(result) == ir::Op::result ? graph.operands(result)[0] : result;
}

ItemPlan::ItemPlan(const LowerContext& context, const ir::Target& target)
    : graph_(context.graph), space_(context.space), target_(target) {
  plan_.space = &space_;
  plan_.items.emplace();
}

std::int64_t ItemPlan::elements(const ir::Shape& shape) const {
  const auto axes = static_cast<std::ptrdiff_t>(batch_axes_);
  return ir::element_count({shape.begin() + axes, shape.end()}).constant();
}

int ItemPlan::operand_slot(const KernelOperand& operand) {
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    const KernelOperand& one = plan_.operands[i];
    if (!one.in_item() && one.value == operand.value && one.written == operand.written)
      return static_cast<int>(i);
  }
  plan_.operands.push_back(operand);
  return static_cast<int>(plan_.operands.size()) - 1;
}

int ItemPlan::array_in_item(ValueId value, std::int64_t offset) {
  KernelOperand operand;
  operand.value = value;
  operand.dtype = graph_.dtype(value);
  operand.written = true;
  operand.item_offset = base_ + offset;
  operand.item_padding = item_.padding;
  plan_.operands.push_back(operand);
  return static_cast<int>(plan_.operands.size()) - 1;
}

void ItemPlan::open_call(ValueId call, const ItemCall& item) {
  call_ = call;
  item_ = item;
  batch_axes_ = batch_axes_of(graph_, call);
  // Arrays of several dtypes are aligned for each.
  constexpr std::int64_t alignment = 16;
  base_ = (plan_.items->bytes + alignment - 1) / alignment * alignment;
  plan_.items->count = items_of(graph_, call);
  widest_ = std::max<std::int64_t>(widest_, item.padding);
  plan_.items->bytes = (base_ + item.bytes + widest_ - 1) / widest_ * widest_;
  threads_ = with(item);
  arrays_.clear();
  const std::span<const ValueId> operands = graph_.operands(call);
  for (std::size_t k = 0; k < operands.size(); ++k)
    arrays_.push_back(array_in_item(operands[k], item.offsets[k]));
}

ItemThreads ItemPlan::with(const ItemCall& item) const {
  return {std::max(threads_.count, item.threads), threads_.lanes || item.lanes,
          std::max(threads_.resident, item.resident)};
}

ItemPhase& ItemPlan::add_phase(ItemLoops loops) {
  ItemPhase phase;
  phase.batch = std::move(loops.batch);
  phase.loops = std::move(loops.within);
  plan_.items->phases.push_back(std::move(phase));
  return plan_.items->phases.back();
}

bool ItemPlan::make_operand(std::size_t k, const KernelPlan& plan) {
  const std::int64_t count = elements(graph_.shape(graph_.operands(call_)[k]));
  const Index& address = plan.stores.front().address;
  std::optional<ItemLoops> loops = divide(plan, address, count);
  if (!loops || !space_.in_range(within_item(address, loops->batch), count)) return false;
  const ItemRoutine& routine = item_.routine;
  if (routine.parts > 1 &&
      !counts_elements(plan, within_item(address, loops->batch), loops->within, routine.takes[k]))
    return false;
  append(plan, std::move(*loops), arrays_[k]);
  return true;
}

void ItemPlan::load_operand(std::size_t k, ValueId array) {
  KernelOperand operand;
  operand.value = array;
  operand.dtype = graph_.dtype(array);
  copy(operand_slot(operand), arrays_[k], elements(graph_.shape(graph_.operands(call_)[k])));
}

// A phase that copies the elements of each item. Items follow each other in memory.
void ItemPlan::copy(int from, int to, std::int64_t elements) {
  const Loop item{space_.new_loop(plan_.items->count), plan_.items->count};
  const Loop element{space_.new_loop(elements), elements};
  const Index within = space_.loop(element.atom);
  const Index whole = space_.add(space_.scale(space_.loop(item.atom), elements), within);
  Instruction load = Instruction::of(Instruction::Kind::load, plan_.operands[from].dtype);
  load.operand = from;
  load.address = plan_.operands[from].in_item() ? within : whole;
  load.source = plan_.operands[from].value;
  Store store;
  store.value = static_cast<int>(plan_.body.size());
  store.operand = to;
  store.address = plan_.operands[to].in_item() ? within : whole;
  plan_.body.push_back(std::move(load));
  ItemPhase& phase = add_phase({{item}, {element}});
  phase.stores.push_back(static_cast<int>(plan_.stores.size()));
  plan_.stores.push_back(std::move(store));
}

void ItemPlan::run_call() {
  const std::span<const ir::Type> types = graph_.result_types(call_);
  const std::size_t operands = arrays_.size();
  for (std::size_t i = 0; i < types.size(); ++i) {
    arrays_.push_back(array_in_item(call_, item_.offsets[operands + i]));
    plan_.operands[arrays_.back()].dtype = types[i].dtype;
  }
  for (std::uint32_t i = index_of(call_); i < graph_.size(); ++i) {
    const ValueId value{i};
    const bool further = graph_.op(value) == ir::Op::result && graph_.operands(value)[0] == call_;
    if (value != call_ && !further) continue;
    const int array = arrays_[operands + (further ? graph_.attributes(value).index : 0)];
    plan_.operands[array].value = value;
    results_[i] = array;
  }
  ItemRoutine routine = item_.routine;
  routine.arrays = arrays_;
  plan_.items->parts = routine.parts;
  add_phase({}).routine = std::move(routine);
}

void ItemPlan::store_result(ValueId result) {
  KernelOperand operand;
  operand.value = result;
  operand.dtype = graph_.dtype(result);
  operand.written = true;
  copy(results_.at(index_of(result)), operand_slot(operand), elements(graph_.shape(result)));
}

bool ItemPlan::can_use(const KernelPlan& plan) const {
  const std::optional<ItemLoops> loops = loops_of_results(plan);
  if (!loops || !in_parts()) return loops.has_value();
  const auto is_result = [&](const Instruction& one) {
    return one.operand >= 0 && results_.contains(index_of(plan.operands[one.operand].value));
  };
  const auto load = std::ranges::find_if(plan.body, is_result);
  return std::ranges::count_if(plan.body, is_result) == 1 && !load->guarded &&
         counts_elements(plan, within_item(load->address, loops->batch), loops->within,
                         item_.routine.makes);
}

void ItemPlan::use_results(const KernelPlan& plan) { append(plan, *loops_of_results(plan), -1); }

void ItemPlan::continue_with(ValueId call, const ItemCall& item, std::size_t k,
                             const KernelPlan& plan) {
  ItemLoops loops = *loops_of_results(plan);  // of the call before, whose items have other axes
  open_call(call, item);
  append(plan, std::move(loops), arrays_[k]);
}

bool ItemPlan::can_continue(const KernelPlan& plan, ValueId call, const ItemCall& item,
                            std::size_t k) const {
  const std::int64_t bytes = (plan_.items->bytes + item.bytes) * with(item).least_items();
  if (!(items_of(graph_, call) == plan_.items->count) || item.threads != threads_.count ||
      bytes > most_item_bytes(target_) || in_parts() || item.routine.parts > 1)
    return false;
  const ir::Shape& shape = graph_.shape(graph_.operands(call)[k]);
  const auto axes = static_cast<std::ptrdiff_t>(batch_axes_of(graph_, call));
  const Dim count = ir::element_count({shape.begin() + axes, shape.end()});
  const std::optional<ItemLoops> made = divide(plan, plan.stores.front().address, count.constant());
  const std::optional<ItemLoops> used = loops_of_results(plan);
  return made && used && same_loops(made->batch, used->batch);
}

// The batch loops are those of a C-ordered array of items of `elements` elements.
std::optional<ItemLoops> ItemPlan::divide(const KernelPlan& plan, const Index& address,
                                          std::int64_t elements) const {
  ItemLoops loops;
  Dim stride = elements;
  const Dim whole = plan_.items->count * Dim(elements);
  while (!(stride == whole)) {
    const auto next = std::ranges::find_if(plan.outer, [&](const Loop& loop) {
      const bool known =
          std::ranges::any_of(loops.batch, [&](const Loop& one) { return one.atom == loop.atom; });
      return !known && !(loop.extent == Dim(1)) && space_.coefficient(address, loop.atom) == stride;
    });
    if (next == plan.outer.end()) return std::nullopt;
    loops.batch.insert(loops.batch.begin(), *next);
    stride = stride * next->extent;
  }
  for (const Loop& loop : plan.outer) {
    const bool is_batch =
        std::ranges::any_of(loops.batch, [&](const Loop& one) { return one.atom == loop.atom; });
    if (is_batch) {
      if (space_.nested(address, loop.atom)) return std::nullopt;
    } else if (!loop.extent.is_constant()) {
      return std::nullopt;
    } else {
      loops.within.push_back(loop);
    }
  }
  return loops;
}

// Under a guard that holds for every item alike, an address that is valid for all items is within
// one.
bool ItemPlan::is_within(const KernelPlan& plan, const Instruction& load, std::int64_t elements,
                         const std::vector<Loop>& batch) const {
  if (!load.guarded) return space_.in_range(within_item(load.address, batch), elements);
  for (const int i : needed(plan, {load.arguments.front()}, false)) {
    std::vector<AtomId> loops;
    space_.collect_loops(plan.body[i].address, loops);
    const bool varies = std::ranges::any_of(batch, [&](const Loop& loop) {
      return std::ranges::find(loops, loop.atom) != loops.end();
    });
    if (varies) return false;
  }
  return true;
}

std::optional<ItemLoops> ItemPlan::loops_of_results(const KernelPlan& plan) const {
  std::optional<ItemLoops> loops;
  for (const Instruction& load : plan.body) {
    if (load.operand < 0) continue;
    const auto result = results_.find(index_of(plan.operands[load.operand].value));
    if (result == results_.end()) continue;
    if (load.kind != Instruction::Kind::load) return std::nullopt;
    const std::int64_t count = elements(graph_.shape(plan.operands[load.operand].value));
    std::optional<ItemLoops> own = divide(plan, load.address, count);
    if (!own || !is_within(plan, load, count, own->batch) ||
        (loops && !same_loops(own->batch, loops->batch)))
      return std::nullopt;
    loops = std::move(own);
  }
  return loops;
}

// Copies the body and the stores of an elementwise plan. `held`: the array of the item that its
// store fills; -1: stores go to memory.
void ItemPlan::append(const KernelPlan& from, ItemLoops loops, int held) {
  const auto base = static_cast<int>(plan_.body.size());
  const auto moved = [&](const Index& index) {
    return space_.with_values(index, [&](AtomId id) {
      const Atom& atom = space_.atom(id);
      const Dim extent = atom.extent;
      return space_.computed(atom.value + static_cast<std::uint32_t>(base), extent);
    });
  };
  const auto first_loop = static_cast<int>(plan_.element_loops.size());
  for (const ElementLoop& loop : from.element_loops)
    plan_.element_loops.push_back(renumbered(loop, [&](int old) { return old + base; }));
  for (Instruction instruction : from.body) {
    for (int& argument : instruction.arguments) argument += base;
    if (instruction.loop >= 0) instruction.loop += first_loop;
    if (instruction.step_of >= 0) instruction.step_of += first_loop;
    if (instruction.operand >= 0) {
      const KernelOperand& operand = from.operands[instruction.operand];
      const auto result = results_.find(index_of(operand.value));
      const bool in_item = result != results_.end();
      if (in_item) instruction.address = within_item(instruction.address, loops.batch);
      instruction.operand = in_item ? result->second : operand_slot(operand);
    }
    instruction.address = moved(instruction.address);
    plan_.body.push_back(std::move(instruction));
  }
  std::vector<int> stores;
  for (Store store : from.stores) {
    store.value += base;
    if (store.guard >= 0) store.guard += base;
    for (int& position : store.positions) position += base;
    if (held >= 0) store.address = within_item(store.address, loops.batch);
    store.operand = held >= 0 ? held : operand_slot(from.operands[store.operand]);
    store.address = moved(store.address);
    stores.push_back(static_cast<int>(plan_.stores.size()));
    plan_.stores.push_back(std::move(store));
  }
  add_phase(std::move(loops)).stores = std::move(stores);
}

// Arrays of the program come first: they are the kernel's parameters.
KernelPlan ItemPlan::finish() {
  std::vector<int> places(plan_.operands.size());
  std::vector<KernelOperand> ordered;
  for (const bool in_item : {false, true}) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (plan_.operands[i].in_item() != in_item) continue;
      places[i] = static_cast<int>(ordered.size());
      ordered.push_back(plan_.operands[i]);
    }
  }
  plan_.operands = std::move(ordered);
  for (Instruction& one : plan_.body) {
    if (one.operand >= 0) one.operand = places[one.operand];
  }
  for (Store& one : plan_.stores) one.operand = places[one.operand];
  for (ItemPhase& phase : plan_.items->phases) {
    if (!phase.routine) continue;
    for (int& array : phase.routine->arrays) array = places[array];
  }
  schedule_items(plan_, threads_, target_);
  return std::move(plan_);
}

}  // namespace heddle::passes
