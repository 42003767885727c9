#include "runtime/launch/control_calls.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/base/interrupt.h"
#include "runtime/device/backend.h"
#include "runtime/launch/carries.h"
#include "runtime/launch/decision.h"

namespace heddle::runtime {

namespace {

bool must_not_wait() { return ir::flag(ir::Variable::no_sync, false); }

constexpr const char* conditions_hint =
    " (a driver of CUDA 12.4 or later decides on the GPU, unless the loop or branch holds a call "
    "that "
    "no graph can capture)";

/// Reads a value that the device may still have to compute.
template <class T>
T read(const std::byte* address, std::string_view operation, const Stream& stream) {
  if (!capabilities_of(stream.device()).host_memory) {
    if (stream.capturing()) {
      throw DeviceError(fmt::format(
          "{} waits for a value that the device computes, which a CUDA graph cannot capture{}",
          operation, conditions_hint));
    }
    if (must_not_wait()) {
      throw ValueError(fmt::format(
          "{} waits for a value that the device computes, which HEDDLE_NO_SYNC=1 forbids{}; "
          "fori_loop and scan do not wait if the number of steps is known",
          operation, conditions_hint));
    }
  }
  T value{};
  copy(&value, Device{}, address, stream.device(), sizeof value, stream);
  return value;
}

/// Whether the device decides for the call: in a graph, and where the host must not wait for it, if
/// the call can be captured.
bool decides_on_device(const Decision& decision, const Stream& stream, const PreparedCall& call) {
  return decision.conditions() != nullptr && (stream.capturing() || must_not_wait()) &&
         call.graph_nodes().has_value();
}

/// Enqueues within the graph that is being captured, or as a graph of its own.
template <class Enqueue>
void capture(const Decision& decision, const CallBuffers& frame, const Enqueue& enqueue) {
  if (frame.stream().capturing()) return enqueue(frame);
  std::vector<BufferRef> held;  // until the graph has been enqueued
  decision.conditions()->run(frame.stream(), [&](const Stream& capturing) {
    enqueue(static_cast<const CallBuffers&>(BuffersOn(frame, capturing, held)));
  });
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
      interruptible_step();
      const std::int64_t step = reverse_ ? length_ - 1 - k : k;
      run.set_counter(step);
      carries.enter(run);
      set_slices(run, frame, step);
      run.run();
      store_slices(run, frame, step);
      carries.advance(run);
    }
    carries.finish(frame.stream());
    return Outcome::enqueued;
  }
  /// Each step is captured anew, with its own addresses.
  std::optional<std::size_t> graph_nodes() const override {
    const std::optional<std::size_t> nodes = body_.list().graph_nodes();
    if (!nodes) return std::nullopt;
    std::size_t copies = 0;  // after each step
    for (std::size_t i = 0; i < step_.results.size(); ++i) {
      const bool moves = i < carries_.count() && carries_.in_place(i);
      if (!moves && !has_memory(body_, i)) ++copies;
    }
    return 3 * carries_.count() + static_cast<std::size_t>(length_) * (*nodes + copies);
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
        carries_(step, body_, constants_),
        decision_(step, context) {}

  Outcome enqueue(const CallBuffers& frame) const override {
    if (decides_on_device(decision_, frame.stream(), *this)) {
      capture(decision_, frame, [this](const CallBuffers& at) { enqueue_captured(at); });
      return Outcome::enqueued;
    }
    Step step(*this, frame, frame);
    Carries::Run carries(carries_, frame, constants_);
    while (step.holds(carries)) {
      interruptible_step();
      step.run(carries);
    }
    carries.finish(frame.stream());
    return Outcome::enqueued;
  }
  std::optional<std::size_t> graph_nodes() const override {
    if (decision_.conditions() == nullptr) return std::nullopt;
    const std::optional<std::size_t> condition = condition_.list().graph_nodes();
    const std::optional<std::size_t> body = body_.list().graph_nodes();
    if (!condition || !body) return std::nullopt;
    return 2 * *condition + *body + 5 * step_.results.size() + 3;
  }

 private:
  /// The condition and the body, with the memory of `frame`, on the stream of `at`.
  struct Step {
    Step(const PreparedWhile& loop, const CallBuffers& frame, const CallBuffers& at)
        : condition(loop.condition_, at, nullptr),
          body(loop.body_, at, nullptr),
          constants(loop.constants_),
          truth(frame.allocate(sizeof(bool), nullptr)) {
      set_constants(condition, loop.step_, frame, 0, 0, constants);
      set_constants(body, loop.step_, frame, 0, 0, constants);
      condition.set_output(0, static_cast<std::byte*>(truth->pointer()));
    }
    /// Enqueues the condition. Returns where it will be.
    const std::byte* test(const Carries::Run& carries) {
      for (std::size_t i = 0; i < carries.current().size(); ++i)
        condition.set_input(constants + i, carries.current()[i]);
      condition.run();
      return condition.result(0);
    }
    bool holds(const Carries::Run& carries) {
      return read<std::uint8_t>(test(carries), "while_loop", condition.stream()) != 0;
    }
    void run(Carries::Run& carries) {
      carries.enter(body);
      body.run();
      carries.advance(body);
    }

    BodyRun condition, body;
    std::size_t constants;
    BufferRef truth;
  };

  /// The addresses in a graph are the same in each step, so the carries go back to their first
  /// ones.
  void enqueue_captured(const CallBuffers& frame) const {
    Carries::Run carries(carries_, frame, constants_);
    const std::uint64_t goes_on = decision_.add(frame);
    decision_.set(goes_on, Step(*this, frame, frame).test(carries), 1, 1, frame);
    decision_.conditions()->capture(frame.stream(), goes_on, GraphConditions::Kind::loop,
                                    [&](const Stream& stream) {
                                      const BuffersOn at(frame, stream);
                                      Step step(*this, frame, at);
                                      step.run(carries);
                                      carries.finish(stream);
                                      decision_.set(goes_on, step.test(carries), 1, 1, at);
                                    });
  }

  const passes::CallStep& step_;
  ScheduledBody condition_, body_;
  std::size_t constants_;
  Carries carries_;
  Decision decision_;
};

class PreparedSwitch final : public PreparedCall {
 public:
  PreparedSwitch(const passes::CallStep& step, const CallContext& context)
      : step_(checked_switch(step)), decision_(step, context) {
    for (const auto& body : step.bodies)
      branches_.push_back(std::make_unique<ScheduledBody>(*body, context));
  }

  Outcome enqueue(const CallBuffers& frame) const override {
    if (decides_on_device(decision_, frame.stream(), *this)) {
      capture(decision_, frame, [this](const CallBuffers& at) { enqueue_captured(at); });
      return Outcome::enqueued;
    }
    const auto index = read<std::int64_t>(index_in(frame), "cond", frame.stream());
    run_branch(static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last())), frame, frame);
    return Outcome::enqueued;
  }
  std::optional<std::size_t> graph_nodes() const override {
    if (decision_.conditions() == nullptr) return std::nullopt;
    std::size_t all = 0;
    for (const auto& branch : branches_) {
      const std::optional<std::size_t> nodes = branch->list().graph_nodes();
      if (!nodes) return std::nullopt;
      all += *nodes + 2 + step_.results.size();
    }
    return all;
  }

 private:
  std::int64_t last() const { return static_cast<std::int64_t>(branches_.size()) - 1; }
  std::byte* index_in(const CallBuffers& frame) const {
    return frame.address(step_.operands[0].buffer);
  }

  /// With the memory of `frame`, on the stream of `at`.
  void run_branch(std::size_t index, const CallBuffers& frame, const CallBuffers& at) const {
    const ScheduledBody& branch = *branches_[index];
    BodyRun run(branch, at, nullptr);
    set_constants(run, step_, frame, 1, 0, step_.operands.size() - 1);
    for (std::size_t i = 0; i < step_.results.size(); ++i) {
      if (run.has_memory(i)) run.set_output(i, frame.address(step_.results[i].buffer));
    }
    run.run();
    for (std::size_t i = 0; i < step_.results.size(); ++i) {
      copy_within(frame.address(step_.results[i].buffer), run.result(i), branch.output_bytes(i),
                  at.stream());
    }
  }

  void enqueue_captured(const CallBuffers& frame) const {
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      const std::uint64_t taken = decision_.add(frame);
      decision_.set(taken, index_in(frame), static_cast<std::int64_t>(i), last(), frame);
      decision_.conditions()->capture(
          frame.stream(), taken, GraphConditions::Kind::branch,
          [&](const Stream& stream) { run_branch(i, frame, BuffersOn(frame, stream)); });
    }
  }

  const passes::CallStep& step_;
  std::vector<std::unique_ptr<ScheduledBody>> branches_;
  Decision decision_;
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
