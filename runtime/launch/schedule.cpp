#include "runtime/launch/schedule.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/calls/handlers.h"
#include "runtime/launch/constant_memory.h"
#include "runtime/launch/frame.h"

namespace heddle::runtime {

using passes::Parameter;
using passes::Step;

namespace {

std::unique_ptr<const ScheduledFallback> schedule_fallback(const passes::Fallback& fallback,
                                                           std::uint32_t index,
                                                           const CallContext& context) {
  auto scheduled = std::make_unique<ScheduledFallback>();
  for (const Step& step : fallback.steps) {
    if (step.call() != nullptr && step.call()->fallback)
      throw InternalError("a call of a fallback has a fallback of its own");
    scheduled->list.add(step, index, context);
  }
  for (const ir::Dim bytes : fallback.buffers)
    scheduled->bytes.push_back(static_cast<std::size_t>(bytes.evaluate(context.bindings)));
  return scheduled;
}

}  // namespace

Schedule::Schedule(const passes::Program& program, std::span<const ArgumentView> arguments,
                   Device device, const ir::Graph* graph) {
  set(program, arguments, device, graph);
}

void Schedule::set(const passes::Program& program, std::span<const ArgumentView> arguments,
                   Device device, const ir::Graph* graph) {
  try {
    bind_arguments(program, arguments, prepared_.bindings);
    prepare_again(prepared_, program, graph);
  } catch (...) {
    prepared_ = {};  // of which prepare_again() would keep what it finds
    throw;
  }
  expected_.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& [array, scalar] = arguments[i];
    expected_[i].is_scalar = array == nullptr;
    expected_[i].type = array != nullptr ? array->type : ir::Type{scalar.dtype, {}};
  }
  list_.clear();
  const CallContext context{program.inputs, prepared_.bindings, device};
  const passes::ConstantPart part = passes::constant_part(program);
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    if (part.empty() || !part.steps[i]) list_.add(program.steps[i], i, context);
  }
  if (part.empty()) {
    arena_ = prepared_.arena;
  } else {
    add_constants(program, part, context);
  }
}

void Schedule::add_constants(const passes::Program& program, const passes::ConstantPart& part,
                             const CallContext& context) {
  auto constants = std::make_unique<ConstantActions>();
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    if (part.steps[i]) constants->list.add(program.steps[i], i, context);
  }
  constants->results = part.results;
  constants->label = std::make_shared<const std::string>("constants of " + program.name);
  std::vector<passes::Temporary> kept = program.temporaries;
  for (passes::Temporary& one : kept) {  // all live at the same time
    one.first_step = 0;
    one.last_step = static_cast<std::uint32_t>(program.steps.size());
  }
  std::vector<std::int64_t> held = prepared_.temporary_bytes, scratch = held, others = held;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!part.results[i]) held[i] = 0;
    if (!part.temporaries[i] || part.results[i]) scratch[i] = 0;
    if (part.temporaries[i]) others[i] = 0;
  }
  constants->held = passes::plan_arena(kept, held);
  constants->scratch = passes::plan_arena(program.temporaries, scratch);
  arena_ = passes::plan_arena(program.temporaries, others);
  constants_ = std::move(constants);
}

bool Schedule::fits(std::span<const ArgumentView> arguments) const {
  return std::ranges::equal(arguments, expected_,
                            [](const ArgumentView& given, const Expected& expected) {
                              if ((given.array == nullptr) != expected.is_scalar) return false;
                              if (expected.is_scalar)
                                return given.scalar.dtype == expected.type.dtype;
                              return given.array->type.dtype == expected.type.dtype &&
                                     given.array->type.shape == expected.type.shape;
                            });
}

std::optional<std::size_t> graph_nodes(const Action& action) {
  if (action.kind != Action::Kind::call) return 1;
  const ScheduledCall& call = *action.call;
  const std::optional<std::size_t> nodes = call.work->graph_nodes();
  if (!nodes || !call.fallback) return nodes;
  const std::optional<std::size_t> instead = call.fallback->list.graph_nodes();
  return instead ? std::optional(std::max(*nodes, *instead)) : std::nullopt;
}

std::optional<std::size_t> ActionList::graph_nodes() const {
  std::size_t all = 0;
  for (const Action& action : actions_) {
    const std::optional<std::size_t> nodes = runtime::graph_nodes(action);
    if (!nodes) return std::nullopt;
    all += *nodes;
  }
  return all;
}

void ActionList::add(const Step& step, std::uint32_t index, const CallContext& context) {
  if (const passes::KernelStep* const kernel = step.kernel()) {
    add_launch(*kernel, index, context);
  } else if (const passes::CallStep* const call = step.call()) {
    add_call(*call, index, context);
  } else if (const passes::FillStep* const fill = step.fill()) {
    add_clear(fill->buffer, static_cast<std::size_t>(fill->bytes.evaluate(context.bindings)),
              index);
  }
}

void ActionList::clear() {
  actions_.clear();
  slots_.clear();
  sources_.clear();
  calls_.clear();
  launches_.clear();
}

void ActionList::add_call(const passes::CallStep& call, std::uint32_t index,
                          const CallContext& context) {
  CallWork work = call_handler(call.handler, context.device.kind).prepare(call, context);
  if (auto* const launches = std::get_if<std::vector<passes::KernelStep>>(&work)) {
    for (const passes::KernelStep& step : launches_.emplace_back(std::move(*launches)))
      add_launch(step, index, context);
    return;
  }
  auto scheduled = std::make_unique<ScheduledCall>();
  scheduled->work = std::get<std::unique_ptr<const PreparedCall>>(std::move(work));
  if (call.fallback) scheduled->fallback = schedule_fallback(*call.fallback, index, context);
  actions_.push_back({.kind = Action::Kind::call, .call = scheduled.get(), .step_index = index});
  calls_.push_back(std::move(scheduled));
}

void ActionList::add_launch(const passes::KernelStep& step, std::uint32_t index,
                            const CallContext& context) {
  const std::int64_t blocks = count_blocks(step, context.bindings);
  if (step.table_rows > 0) return add_row(step, blocks, index, context);
  if (blocks == 0) return;
  for (const Parameter& parameter : step.parameters) {
    if (parameter.kind == Parameter::Kind::buffer && parameter.cleared > 0)
      add_clear(parameter.buffer, static_cast<std::size_t>(parameter.cleared * blocks), index);
  }
  actions_.push_back({.kind = Action::Kind::launch,
                      .step = &step,
                      .blocks = blocks,
                      .step_index = index,
                      .first_slot = static_cast<std::uint32_t>(slots_.size()),
                      .slot_count = static_cast<std::uint32_t>(step.parameters.size())});
  slots_.resize(slots_.size() + step.parameters.size());
  set_slots(step, actions_.back().first_slot, context);
}

/// A launch of a kernel that takes a table (codegen/device/launch_table.h) is begun by the first of
/// its steps, with a table of zeros. Each step adds a row.
void ActionList::add_row(const passes::KernelStep& step, std::int64_t blocks, std::uint32_t index,
                         const CallContext& context) {
  const auto columns = static_cast<std::uint32_t>(step.parameters.size()) + 1;
  if (step.together > 0) {
    if (blocks == 0 && step.together == 1) return;
    actions_.push_back({.kind = Action::Kind::launch,
                        .step = &step,
                        .step_index = index,
                        .first_slot = static_cast<std::uint32_t>(slots_.size()),
                        .slot_count = step.table_rows * columns});
    slots_.resize(slots_.size() + actions_.back().slot_count);
  }
  Action& action = actions_.back();
  const std::uint32_t row = action.first_slot + action.rows++ * columns;
  set_slots(step, row, context);
  ir::ElementBits &own = slots_[row + columns - 1],
                  &first = slots_[action.first_slot + columns - 1];
  own.low = static_cast<std::uint64_t>(blocks);
  first.high = std::max(first.high, own.low);
  action.blocks = static_cast<std::int64_t>(first.high) * action.rows;
}

/// Sets the slots from `first` on to the step's parameters.
void ActionList::set_slots(const passes::KernelStep& step, std::uint32_t first,
                           const CallContext& context) {
  const auto action = static_cast<std::uint32_t>(actions_.size()) - 1;
  for (std::uint32_t i = 0; i < step.parameters.size(); ++i) {
    const Parameter& parameter = step.parameters[i];
    ir::ElementBits& slot = slots_[first + i];
    switch (parameter.kind) {
      case Parameter::Kind::buffer:
        sources_.push_back({.slot = first + i, .action = action, .buffer = parameter.buffer});
        break;
      case Parameter::Kind::size:
        slot = static_cast<std::uint64_t>(parameter.value.evaluate(context.bindings));
        break;
      case Parameter::Kind::scalar:
        sources_.push_back({.slot = first + i,
                            .action = action,
                            .is_scalar = true,
                            .scalar = parameter.scalar,
                            .buffer = {}});
        break;
      case Parameter::Kind::constant:
        slot = parameter.bits;
        break;
    }
  }
}

void ActionList::add_clear(const passes::BufferRef& buffer, std::size_t bytes,
                           std::uint32_t index) {
  if (bytes == 0) return;
  const auto action = static_cast<std::uint32_t>(actions_.size());
  actions_.push_back({.kind = Action::Kind::clear,
                      .bytes = bytes,
                      .step_index = index,
                      .first_slot = static_cast<std::uint32_t>(slots_.size()),
                      .slot_count = 1});
  sources_.push_back({.slot = actions_.back().first_slot, .action = action, .buffer = buffer});
  slots_.emplace_back();
}

ArgumentSlots::ArgumentSlots(const ActionList& list) { reset(list); }

void ArgumentSlots::reset(const ActionList& list) {
  slots_.assign(list.slots().begin(), list.slots().end());
  versions_.assign(list.actions().size(), 0);
  pointers_.clear();
  for (ir::ElementBits& slot : slots_) pointers_.push_back(&slot);
}

template <class Memory>
void ArgumentSlots::set(const ActionList& list, const Memory& memory) {
  for (const SlotSource& source : list.sources()) {
    const ir::ElementBits value =
        source.is_scalar ? memory.scalar(source.scalar)
                         : reinterpret_cast<std::uint64_t>(memory.address(source.buffer));
    if (slots_[source.slot] == value) continue;
    slots_[source.slot] = value;
    ++versions_[source.action];
  }
}
template void ArgumentSlots::set(const ActionList& list, const Frame& memory);
template void ArgumentSlots::set(const ActionList& list, const CallBuffers& memory);
template void ArgumentSlots::set(const ActionList& list, const ConstantMemory& memory);

}  // namespace heddle::runtime
