#include "runtime/launch/program_runner.h"

#include <algorithm>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/base/statistics.h"
#include "runtime/device/backend.h"
#include "runtime/launch/call_frames.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kept_schedules = 8;
/// Calls with one launch cache entry before its graph is made. Making it costs as much as some tens
/// of launches.
constexpr int calls_before_graph = 2;
/// Largest arena, in bytes, that a graph keeps from call to call. Larger arenas return to the pool
/// for others to use, and the addresses in the graph are patched when they change.
constexpr std::int64_t most_kept = std::int64_t{16} << 20;

/// HEDDLE_GRAPHS=0 disables graphs.
bool graphs_are_allowed() {
  static const bool on = ir::flag(ir::Variable::graphs, true);
  return on;
}

}  // namespace

ProgramRunner::~ProgramRunner() {
  if (reclaimer_ >= 0) remove_reclaimer(reclaimer_);
}

void ProgramRunner::run(std::span<const ArgumentView> arguments, Stream& stream,
                        std::vector<DeviceArray>& outputs, const CallerLines& lines) {
  const ir::Span span(ir::Phase::launch, [&] { return lines.name_of(program_.name); });
  const ir::ForkSection section;
  const ContextScope context(stream.device());
  const CaptureScope capture(stream);
  const Lanes::Lease lane = lane_for(arguments, stream, lines.graph);
  Frame frame(program_, lane->schedule->prepared(), arguments, lines, stream, capture.active(),
              lane->graph ? lane->graph->arena() : BufferRef(), outputs);
  lane->arguments.set(lane->schedule->list(), frame);
  if (capture.active()) {
    // The graph being captured may be launched long after this call's arrays are destroyed.
    capture.keep(frame.buffers());
  } else {
    prepare_graph(lane, frame);
  }
  const ProgramCallFrame calls(frame, stream, capture);
  if (span.data() != nullptr && ir::kernels_watched()) [[unlikely]] {
    enqueue_watched(*lane, calls,
                    {program_, *lane->schedule, arguments, lines, stream, capture.active()});
  } else {
    enqueue(*lane, calls, capture.active());
  }
  frame.finish();
  statistics().program_launches.fetch_add(1, std::memory_order_relaxed);
}

Lanes::Lease ProgramRunner::lane_for(std::span<const ArgumentView> arguments, const Stream& stream,
                                     const ir::Graph* graph) {
  if (Lanes::Lease found = lanes_->find(stream.state(), arguments)) return found;
  return lanes_->add(stream.state(), schedule_for(arguments, stream.device(), graph));
}

std::shared_ptr<const Schedule> ProgramRunner::schedule_for(std::span<const ArgumentView> arguments,
                                                            Device device, const ir::Graph* graph) {
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(schedules_, [&](const auto& each) { return each->fits(arguments); });
    if (found != schedules_.end()) {
      std::rotate(schedules_.begin(), found, found + 1);
      return schedules_.front();
    }
  }
  auto made = std::make_shared<const Schedule>(program_, arguments, device, graph);
  const std::lock_guard lock(mutex_);
  schedules_.insert(schedules_.begin(), made);
  if (schedules_.size() > kept_schedules) schedules_.pop_back();
  return made;
}

/// Makes the graph of a launch cache entry after a few calls. If that fails, kernels are still
/// launched one by one.
void ProgramRunner::prepare_graph(const Lanes::Lease& lane, const Frame& frame) {
  if (lane->graph || lane->calls > calls_before_graph) return;
  if (lane->calls++ < calls_before_graph || !lane.lasts()) return;
  if (!graphs_are_allowed() || !launcher_->can_make_graph(*lane->schedule)) return;
  std::call_once(gives_up_graphs_, [&] {
    reclaimer_ = add_reclaimer([weak = std::weak_ptr(lanes_)](Device, std::size_t) {
      if (const auto lanes = weak.lock()) lanes->give_up_graphs();
    });
  });
  try {
    const bool keep = lane->schedule->prepared().arena.bytes <= most_kept;
    lane->graph = launcher_->make_graph(
        *lane->schedule, keep ? frame.arena() : BufferRef(),
        [this, &prepared = lane->schedule->prepared()](const Action& call, const CallFrame& at) {
          return enqueue_call(call, at, prepared);
        });
  } catch (const Error& failure) {
    log().debug("{}: no graph: {}", program_.name, failure.what());
  }
}

void ProgramRunner::enqueue(Lane& lane, const CallFrame& frame, bool captured) {
  const std::span<const Action> actions = lane.schedule->actions();
  for (std::size_t i = 0; i < actions.size();) {
    if (lane.graph && !captured) {
      try {
        const std::size_t next = lane.graph->launch(i, lane.arguments, frame);
        if (next != i) {
          i = next;
          continue;
        }
      } catch (const Error& failure) {
        log().debug("{}: the graph is given up: {}", program_.name, failure.what());
        lane.graph.reset();
      }
    }
    enqueue_one(actions[i++], lane.arguments, frame, lane.schedule->prepared());
  }
}

/// Enqueues the actions one by one, because the actions within a graph cannot be timed
/// individually.
void ProgramRunner::enqueue_watched(Lane& lane, const CallFrame& frame, const WatchedCall& call) {
  for (const Action& action : lane.schedule->actions()) {
    call.run(action,
             [&] { enqueue_one(action, lane.arguments, frame, lane.schedule->prepared()); });
  }
}

void ProgramRunner::enqueue_one(const Action& action, ArgumentSlots& arguments,
                                const CallFrame& frame, const Prepared& prepared) {
  switch (action.kind) {
    case Action::Kind::launch:
      return launcher_->launch(*action.step, action.blocks,
                               {arguments.values(action), arguments.pointers(action)},
                               frame.stream());
    case Action::Kind::clear:
      return fill(reinterpret_cast<void*>(arguments.values(action)[0].low), 0, action.bytes,
                  frame.stream());
    case Action::Kind::call:
      enqueue_call(action, frame, prepared);
      return;
  }
}

/// Returns the number of kernels that the fallback launched.
std::size_t ProgramRunner::enqueue_call(const Action& action, const CallFrame& frame,
                                        const Prepared& prepared) {
  using Outcome = PreparedCall::Outcome;
  const ScheduledCall& call = *action.call;
  if (!call.fallback) {
    if (call.work->enqueue(frame) != Outcome::enqueued)
      throw InternalError(program_.name + ": a call was refused that has no fallback");
    return 0;
  }
  std::atomic<bool>& refused = refused_[action.step_index];
  if (!refused.load(std::memory_order_relaxed)) {
    const Outcome outcome = call.work->enqueue(frame);
    if (outcome == Outcome::enqueued) return 0;
    if (outcome == Outcome::refused && !refused.exchange(true))
      log().info("{}: {}", program_.name, call.work->refusal());
  }
  return run_fallback(*call.fallback, frame, prepared);
}

std::size_t ProgramRunner::run_fallback(const ScheduledFallback& fallback, const CallFrame& outer,
                                        const Prepared& prepared) {
  const FallbackFrame frame(outer, fallback.bytes, prepared.arena_label);
  ArgumentSlots arguments(fallback.list);
  arguments.set(fallback.list, static_cast<const CallFrame&>(frame));
  const std::span<const Action> actions = fallback.list.actions();
  for (const Action& action : actions) enqueue_one(action, arguments, frame, prepared);
  return static_cast<std::size_t>(std::ranges::count(actions, Action::Kind::launch, &Action::kind));
}

}  // namespace heddle::runtime
