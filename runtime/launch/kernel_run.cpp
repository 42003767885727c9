#include "runtime/launch/kernel_run.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/device/backend.h"
#include "runtime/launch/capture.h"

namespace heddle::runtime {

struct DeviceClock {
  Event event;
  ir::SpanData::Clock::time_point host;  ///< host time when the device passed it
};

namespace {

using passes::Step;

bool same_line(const ir::Location& a, const ir::Location& b) {
  return a.file == b.file && a.line == b.line;
}

/// Records a timed event; nullopt if the device cannot create one.
std::optional<Event> mark(const Stream& stream) {
  try {
    return Event(stream, true);
  } catch (const Error& failure) {
    log().debug("a kernel is not timed: {}", failure.what());
    return std::nullopt;
  }
}

/// How long a clock is reused. Elapsed times between events are floats, which lose precision as the
/// reference event gets older.
constexpr auto clock_lasts = std::chrono::seconds(4);

/// A clock from an event on a new stream, which the device passes at once. Null if the device
/// cannot create one.
std::shared_ptr<const DeviceClock> clock_of(Device device) {
  static constinit ir::Mutex mutex;
  static auto* const clocks = new std::map<std::string, std::shared_ptr<const DeviceClock>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const DeviceClock>& clock = (*clocks)[to_string(device)];
  const auto now = ir::SpanData::Clock::now();
  if (clock && now - clock->host < clock_lasts) return clock;
  try {
    const RelaxedCaptureScope relaxed(device);
    Event event(Stream::create(device), true);
    event.synchronize();
    clock = std::make_shared<const DeviceClock>(
        DeviceClock{std::move(event), ir::SpanData::Clock::now()});
  } catch (const Error& failure) {
    log().debug("kernels are not timed: {}", failure.what());
  }
  return clock;
}

}  // namespace

void KernelRun::mark_begin(const Stream& marked) {
  const std::lock_guard lock(mutex_);
  clock_ = clock_of(marked.device());
  if (clock_) begin_ = mark(marked);
}

void KernelRun::mark_end(const Stream& marked) {
  const std::lock_guard lock(mutex_);
  if (begin_) end_ = mark(marked);
}

std::optional<DeviceTime> KernelRun::device_time(bool wait) const {
  const std::lock_guard lock(mutex_);
  if (time_ || !end_) return time_;
  const RelaxedCaptureScope relaxed(device);
  if (wait) end_->synchronize();
  if (!end_->done()) return std::nullopt;
  constexpr double microseconds = 1000;
  time_.emplace();
  time_->microseconds = end_->milliseconds_since(*begin_) * microseconds;
  time_->start =
      clock_->host +
      std::chrono::duration_cast<ir::SpanData::Clock::duration>(
          std::chrono::duration<double, std::milli>(begin_->milliseconds_since(clock_->event)));
  begin_.reset();
  end_.reset();
  return time_;
}

bool KernelRun::pending() const {
  const std::lock_guard lock(mutex_);
  return end_.has_value();
}

std::optional<DeviceTime> device_time(const ir::SpanData& span, bool wait) {
  const KernelRun* const run = kernel_run_of(span);
  if (run == nullptr || run->captured || !run->enqueued) return std::nullopt;
  if (capabilities_of(run->device).timed_events) return run->device_time(wait);
  return DeviceTime{span.start,
                    std::chrono::duration<double, std::micro>(span.end - span.start).count()};
}

WatchedCall::WatchedCall(const passes::Program& program, const Schedule& schedule,
                         std::span<const ArgumentView> arguments, const CallerLocations& lines,
                         const Stream& stream, bool captured)
    : program_(program),
      prepared_(schedule.prepared()),
      arguments_(arguments),
      lines_(lines),
      actions_(program.steps.size()),
      stream_(stream),
      captured_(captured) {
  if (lines.graph != nullptr) order_ = ir::shared_order(*lines.graph);
  const auto count = [&](const ActionList& list) {
    for (const Action& action : list.actions()) {
      if (action.kind != Action::Kind::clear) ++actions_[action.step_index];
    }
  };
  count(schedule.list());
  if (schedule.constants() != nullptr) count(schedule.constants()->list);
}

void WatchedCall::run(const Action& action, const std::function<void()>& enqueue) const {
  const ir::Span span(ir::Phase::kernel, name_of(action));
  if (span.data() == nullptr) return enqueue();
  const std::shared_ptr<KernelRun> run = describe(action);
  span.data()->detail = run;
  const bool timed = capabilities_of(stream_.device()).timed_events && !captured_;
  if (timed) run->mark_begin(stream_);
  enqueue();
  run->enqueued = true;
  if (timed) run->mark_end(stream_);
}

std::string WatchedCall::name_of(const Action& action) const {
  if (action.kind == Action::Kind::launch) return program_.kernel_names[action.step->kernel];
  if (action.kind == Action::Kind::clear) return "fill_bytes";
  return program_.steps[action.step_index].call()->label;
}

std::shared_ptr<KernelRun> WatchedCall::describe(const Action& action) const {
  const Step& step = program_.steps[action.step_index];
  auto run = std::make_shared<KernelRun>();
  run->program = lines_.name_of(program_.name);
  run->step = action.step_index;
  run->device = stream_.device();
  run->stream = stream_.state()->number;
  run->captured = captured_;
  const std::span<const Step> launched(&step, action.rows > 0 ? action.step->together : 1);
  run->lines = lines_of(launched);
  if (action.kind == Action::Kind::clear) {
    run->bytes = static_cast<std::int64_t>(action.bytes);
    return run;
  }
  run->operands = operands_of(step, action);
  if (launched.size() > 1)
    run->operands += fmt::format(", and {} more launches", launched.size() - 1);
  // If a step has several launches, the bytes of each launch are unknown.
  if (actions_[action.step_index] == 1) {
    run->bytes = 0;
    for (const Step& each : launched) *run->bytes += each.moved.evaluate(prepared_.bindings);
  }
  if (action.kind == Action::Kind::launch) {
    run->blocks = action.blocks;
    std::ranges::copy(action.step->block, run->threads);
    run->cluster = action.step->cluster;
    run->shared_bytes = action.step->shared_bytes;
  }
  return run;
}

/// Temporaries have no type in the program.
std::string WatchedCall::type_of(const passes::BufferRef& buffer) const {
  switch (buffer.kind) {
    case passes::BufferRef::Kind::input: {
      const DeviceArray* const array = arguments_[buffer.index].array;
      return array != nullptr ? ir::to_string(array->type) : "scalar";
    }
    case passes::BufferRef::Kind::output:
      return ir::to_string(ir::Type{program_.outputs[buffer.index].type.dtype,
                                    prepared_.output_shapes[buffer.index]});
    case passes::BufferRef::Kind::temporary:
    case passes::BufferRef::Kind::fallback:
      break;
  }
  return fmt::format("{} bytes", prepared_.temporary_bytes[buffer.index]);
}

std::string WatchedCall::operands_of(const Step& step, const Action& action) const {
  std::vector<std::string> read, written;
  for (const passes::BufferUse& use : uses_of(step))
    (use.written ? written : read).push_back(type_of(use.buffer));
  const std::string operands = action.kind == Action::Kind::call
                                   ? action.call->work->operands(read)
                                   : fmt::format("{}", fmt::join(read, ", "));
  return fmt::format("{} -> {}", operands, fmt::join(written, ", "));
}

std::vector<ir::Location> WatchedCall::lines_of(std::span<const Step> steps) const {
  std::vector<ir::Location> lines;
  const auto add = [&](const ir::Location& line) {
    const bool known = std::ranges::any_of(
        lines, [&](const ir::Location& other) { return same_line(line, other); });
    if (line.file != nullptr && !known) lines.push_back(line);
  };
  for (const Step& step : steps) {
    for (const std::uint32_t origin : step.origins) {
      if (origin < order_.size()) add(lines_.graph->node(order_[origin]).location);
    }
  }
  return lines;
}

}  // namespace heddle::runtime
