#include "runtime/launch/control_calls.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/device/backend.h"
#include "runtime/launch/carries.h"

namespace heddle::runtime {

namespace {

/// Reads a value that the device may still have to compute.
template <class T>
T read(const std::byte* address, std::string_view operation, const Stream& stream) {
  if (!capabilities_of(stream.device()).host_memory) {
    if (stream.capturing()) {
      throw DeviceError(fmt::format(
          "{} waits for a value that the device computes, which a CUDA graph cannot capture",
          operation));
    }
    if (ir::flag(ir::Variable::no_sync, false)) {
      throw ValueError(fmt::format(
          "{} waits for a value that the device computes, which HEDDLE_NO_SYNC=1 forbids; "
          "fori_loop and scan do not wait if the number of steps is known",
          operation));
    }
  }
  T value{};
  copy(&value, Device{}, address, stream.device(), sizeof value, stream);
  return value;
}

/// Throws InternalError unless a step, which may come from a file, has a body with so many inputs
/// and outputs.
void require_body(const passes::CallStep& step, std::size_t body, std::size_t inputs,
                  std::size_t outputs) {
  if (body < step.bodies.size() && step.bodies[body]->inputs.size() == inputs &&
      step.bodies[body]->outputs.size() == outputs) {
    return;
  }
  throw InternalError(fmt::format("{}: a body does not fit its step", step.handler));
}

/// Returns the step if its parts fit together. Throws InternalError.
const passes::CallStep& checked_scan(const passes::CallStep& step) {
  const std::int64_t carries = step.values.size("carries").constant();
  const std::int64_t sequences = step.values.size("sequences").constant();
  const auto operands = static_cast<std::int64_t>(step.operands.size());
  const bool fits = carries >= 0 && sequences >= 0 && carries <= operands &&
                    sequences <= operands - carries &&
                    static_cast<std::size_t>(carries) == step.scratch.size() &&
                    step.scratch.size() <= step.results.size();
  require_body(step, fits ? 0 : step.bodies.size(), step.operands.size() + 2, step.results.size());
  return step;
}
const passes::CallStep& checked_while(const passes::CallStep& step) {
  const std::int64_t carries = step.values.size("carries").constant();
  const bool fits = carries >= 0 && static_cast<std::size_t>(carries) == step.results.size() &&
                    step.scratch.size() == step.results.size() &&
                    step.results.size() <= step.operands.size();
  require_body(step, fits ? 0 : step.bodies.size(), step.operands.size(), 1);
  require_body(step, 1, step.operands.size(), step.results.size());
  return step;
}
const passes::CallStep& checked_switch(const passes::CallStep& step) {
  for (std::size_t i = 0; i < std::max<std::size_t>(step.bodies.size(), 1); ++i)
    require_body(step, i, step.operands.size() - 1, step.results.size());
  return step;
}

/// Gives a body the operands of a step that are the same each time.
void set_constants(BodyRun& run, const passes::CallStep& step, const CallBuffers& frame,
                   std::size_t first_operand, std::size_t first_input, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    run.set_input(first_input + i, frame.address(step.operands[first_operand + i].buffer));
}

class PreparedScan final : public PreparedCall {
 public:
  PreparedScan(const passes::CallStep& step, const CallContext& context)
      : step_(checked_scan(step)),
        body_(*step.bodies[0], context),
        length_(step.values.size("length").evaluate(context.bindings)),
        reverse_(step.values.flag("reverse")),
        constants_(count_constants()),
        carries_(step, body_, first_constant + constants_) {}

  Outcome enqueue(const CallBuffers& frame) const override {
    Carries::Run carries(carries_, frame, constants_);
    BodyRun run(body_, frame, nullptr);
    set_constants(run, step_, frame, 0, first_constant, constants_);
    for (std::int64_t k = 0; k < length_; ++k) {
      const std::int64_t step = reverse_ ? length_ - 1 - k : k;
      run.set_counter(step);
      carries.enter(run);
      set_slices(run, frame, step);
      run.run();
      store_slices(run, frame, step);
      carries.advance(run);
    }
    carries.finish();
    return Outcome::enqueued;
  }
  /// Each step is captured anew, with its own addresses.
  std::optional<std::size_t> graph_nodes() const override {
    const std::optional<std::size_t> nodes = body_.list().graph_nodes();
    if (!nodes) return std::nullopt;
    const std::size_t copies = 2 * step_.results.size();
    return copies + static_cast<std::size_t>(length_) * (*nodes + copies);
  }

 private:
  static constexpr std::size_t first_constant = 2;  ///< after the counter, twice

  std::size_t count_constants() const {
    const auto sequences = static_cast<std::size_t>(step_.values.size("sequences").constant());
    const auto carries = static_cast<std::size_t>(step_.values.size("carries").constant());
    return step_.operands.size() - sequences - carries;
  }

  /// The elements of the sequences for this step, and of the stacks if the body writes them.
  void set_slices(BodyRun& run, const CallBuffers& frame, std::int64_t step) const {
    const std::size_t first = constants_ + carries_.count();
    for (std::size_t i = first; i < step_.operands.size(); ++i) {
      const std::size_t input = first_constant + i;
      const auto offset = step * static_cast<std::int64_t>(body_.input_bytes(input));
      run.set_input(input, frame.address(step_.operands[i].buffer) + offset);
    }
    for (std::size_t i = carries_.count(); i < step_.results.size(); ++i) {
      if (run.has_memory(i)) run.set_output(i, slice(i, frame, step));
    }
  }

  /// Copies elements of stacks that the body has in other memory.
  void store_slices(const BodyRun& run, const CallBuffers& frame, std::int64_t step) const {
    for (std::size_t i = carries_.count(); i < step_.results.size(); ++i)
      copy_within(slice(i, frame, step), run.result(i), body_.output_bytes(i), frame.stream());
  }

  std::byte* slice(std::size_t result, const CallBuffers& frame, std::int64_t step) const {
    return frame.address(step_.results[result].buffer) +
           step * static_cast<std::int64_t>(body_.output_bytes(result));
  }

  const passes::CallStep& step_;
  ScheduledBody body_;
  std::int64_t length_;
  bool reverse_;
  std::size_t constants_;
  Carries carries_;
};

class PreparedWhile final : public PreparedCall {
 public:
  PreparedWhile(const passes::CallStep& step, const CallContext& context)
      : step_(checked_while(step)),
        condition_(*step.bodies[0], context),
        body_(*step.bodies[1], context),
        constants_(step.operands.size() - step.results.size()),
        carries_(step, body_, constants_) {}

  Outcome enqueue(const CallBuffers& frame) const override {
    Carries::Run carries(carries_, frame, constants_);
    BodyRun condition(condition_, frame, nullptr), run(body_, frame, nullptr);
    set_constants(condition, step_, frame, 0, 0, constants_);
    set_constants(run, step_, frame, 0, 0, constants_);
    const BufferRef truth = frame.allocate(sizeof(bool), nullptr);
    condition.set_output(0, static_cast<std::byte*>(truth->pointer()));
    while (holds(condition, carries, frame)) {
      carries.enter(run);
      run.run();
      carries.advance(run);
    }
    carries.finish();
    return Outcome::enqueued;
  }

 private:
  bool holds(BodyRun& condition, const Carries::Run& carries, const CallBuffers& frame) const {
    for (std::size_t i = 0; i < carries_.count(); ++i)
      condition.set_input(constants_ + i, carries.current()[i]);
    condition.run();
    return read<std::uint8_t>(condition.result(0), "while_loop", frame.stream()) != 0;
  }

  const passes::CallStep& step_;
  ScheduledBody condition_, body_;
  std::size_t constants_;
  Carries carries_;
};

class PreparedSwitch final : public PreparedCall {
 public:
  PreparedSwitch(const passes::CallStep& step, const CallContext& context)
      : step_(checked_switch(step)) {
    for (const auto& body : step.bodies)
      branches_.push_back(std::make_unique<ScheduledBody>(*body, context));
  }

  Outcome enqueue(const CallBuffers& frame) const override {
    const auto index =
        read<std::int64_t>(frame.address(step_.operands[0].buffer), "cond", frame.stream());
    const auto last = static_cast<std::int64_t>(branches_.size()) - 1;
    const ScheduledBody& branch =
        *branches_[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last))];
    BodyRun run(branch, frame, nullptr);
    set_constants(run, step_, frame, 1, 0, step_.operands.size() - 1);
    for (std::size_t i = 0; i < step_.results.size(); ++i) {
      if (run.has_memory(i)) run.set_output(i, frame.address(step_.results[i].buffer));
    }
    run.run();
    for (std::size_t i = 0; i < step_.results.size(); ++i) {
      copy_within(frame.address(step_.results[i].buffer), run.result(i), branch.output_bytes(i),
                  frame.stream());
    }
    return Outcome::enqueued;
  }

 private:
  const passes::CallStep& step_;
  std::vector<std::unique_ptr<ScheduledBody>> branches_;
};

template <class Prepared>
class ControlHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    return std::make_unique<const Prepared>(step, context);
  }
};

}  // namespace

const CallHandler& scan_handler() {
  static const ControlHandler<PreparedScan> handler;
  return handler;
}

const CallHandler& while_handler() {
  static const ControlHandler<PreparedWhile> handler;
  return handler;
}

const CallHandler& switch_handler() {
  static const ControlHandler<PreparedSwitch> handler;
  return handler;
}

}  // namespace heddle::runtime
