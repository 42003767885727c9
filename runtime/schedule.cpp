#include "runtime/schedule.h"

#include <algorithm>

namespace heddle::runtime {

using passes::Parameter;
using passes::Step;

Schedule::Schedule(const passes::Program& program, std::span<const ArgumentView> arguments,
                   const ir::Graph* graph)
    : prepared_(prepare(program, bind_arguments(program, arguments), graph)) {
  for (const auto& [array, scalar] : arguments) {
    expected_.push_back(
        {array == nullptr, array != nullptr ? array->type : ir::Type{scalar.dtype, {}}});
  }
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind == Step::Kind::kernel) {
      add_launch(i, step.kernel, prepared_.kernels[i]);
    } else if (step.kind == Step::Kind::zero) {
      add_clear(i, step.zero.buffer,
                static_cast<std::size_t>(step.zero.bytes.evaluate(prepared_.bindings)));
    } else if (step.kind == Step::Kind::sort && step.sort.kernels) {
      for (const PreparedLaunch& one : prepared_.sorts[i].launches)
        add_launch(i, one.step, one.kernel);
    } else {
      actions_.push_back({.kind = Action::Kind::library, .step_index = i});
    }
  }
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

void Schedule::add_launch(std::uint32_t index, const passes::KernelStep& step,
                          const PreparedKernel& kernel) {
  if (kernel.blocks == 0) return;
  for (const Parameter& parameter : step.parameters) {
    if (parameter.kind == Parameter::Kind::buffer && parameter.cleared > 0)
      add_clear(index, parameter.buffer,
                static_cast<std::size_t>(parameter.cleared * kernel.blocks));
  }
  const auto action = static_cast<std::uint32_t>(actions_.size());
  actions_.push_back({.kind = Action::Kind::launch,
                      .step = &step,
                      .blocks = kernel.blocks,
                      .step_index = index,
                      .first_slot = static_cast<std::uint32_t>(slots_.size())});
  std::size_t next_size = 0;
  for (const Parameter& parameter : step.parameters) {
    switch (parameter.kind) {
      case Parameter::Kind::buffer:
        add_slot({.action = action, .buffer = parameter.buffer});
        break;
      case Parameter::Kind::size:
        slots_.emplace_back(static_cast<std::uint64_t>(kernel.sizes[next_size++]));
        break;
      case Parameter::Kind::scalar:
        add_slot({.action = action, .is_scalar = true, .scalar = parameter.scalar, .buffer = {}});
        break;
    }
  }
  actions_.back().slot_count = static_cast<std::uint32_t>(step.parameters.size());
}

void Schedule::add_clear(std::uint32_t index, const passes::BufferRef& buffer, std::size_t bytes) {
  if (bytes == 0) return;
  const auto action = static_cast<std::uint32_t>(actions_.size());
  actions_.push_back({.kind = Action::Kind::clear,
                      .bytes = bytes,
                      .step_index = index,
                      .first_slot = static_cast<std::uint32_t>(slots_.size()),
                      .slot_count = 1});
  add_slot({.action = action, .buffer = buffer});
}

void Schedule::add_slot(const SlotSource& source) {
  sources_.push_back(source);
  sources_.back().slot = static_cast<std::uint32_t>(slots_.size());
  slots_.emplace_back();
}

ArgumentSlots::ArgumentSlots(const Schedule& schedule)
    : slots_(schedule.slots().begin(), schedule.slots().end()),
      changed_(schedule.actions().size(), 1) {
  for (ir::ElementBits& slot : slots_) pointers_.push_back(&slot);
}

void ArgumentSlots::set(const Schedule& schedule, const Frame& frame) {
  for (const SlotSource& source : schedule.sources()) {
    const ir::ElementBits value =
        source.is_scalar ? frame.scalar(source.scalar)
                         : reinterpret_cast<std::uint64_t>(frame.address(source.buffer));
    if (slots_[source.slot] == value) continue;
    slots_[source.slot] = value;
    changed_[source.action] = 1;
  }
}

}  // namespace heddle::runtime
