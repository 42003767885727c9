#include "runtime/launch/program_runner.h"

#include <algorithm>
#include <optional>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/log.h"
#include "runtime/base/statistics.h"
#include "runtime/device/backend.h"
#include "runtime/launch/call_frames.h"
#include "runtime/launch/constant_memory.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kept_schedules = 8;
/// Calls with one launch cache entry before its graph is made. Making it costs as much as some tens
/// of launches.
constexpr int calls_before_graph = 2;
/// Calls with one launch cache entry before it keeps the results of constant actions.
constexpr int calls_before_constants = 1;
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
                        std::vector<DeviceArray>& outputs, const CallerLocations& lines) {
  const ir::Span span(ir::Phase::launch, [&] { return lines.name_of(program_.name); });
  const ir::ForkSection section;
  const ContextScope context(stream.device());
  const CaptureScope capture(stream);
  const LaunchCache::Lease entry = cache_entry_for(arguments, stream, lines.graph);
  const Schedule& schedule = *entry->schedule;
  const bool watched = span.data() != nullptr && ir::kernels_watched();
  std::optional<WatchedCall> watch;
  if (watched) [[unlikely]]
    watch.emplace(program_, schedule, arguments, lines, stream, capture.active());
  BufferRef constants = entry->constants;
  if (schedule.constants() != nullptr && (!constants || capture.active()))
    constants = compute_constants(entry, stream, capture, watch ? &*watch : nullptr);
  Frame frame(program_, schedule, arguments, lines, stream, capture.active(),
              {entry->graph ? entry->graph->arena() : BufferRef(), std::move(constants)}, outputs);
  entry->arguments.set(entry->schedule->list(), frame);
  if (capture.active()) {
    // The graph being captured may be launched long after this call's arrays are destroyed.
    capture.keep(frame.buffers());
  } else {
    prepare_graph(entry, frame);
  }
  const RunActions run_actions = [&](const ActionList& list, ArgumentSlots& slots,
                                     const CallBuffers& at) {
    for (const Action& action : list.actions())
      enqueue_one(action, slots, at, entry->schedule->prepared());
  };
  const ProgramCallBuffers calls(frame, stream, capture, run_actions);
  if (watch) [[unlikely]] {
    enqueue_watched(*entry, calls, *watch);
  } else {
    enqueue(*entry, calls, capture.active());
  }
  frame.finish();
  statistics().program_launches.fetch_add(1, std::memory_order_relaxed);
}

LaunchCache::Lease ProgramRunner::cache_entry_for(std::span<const ArgumentView> arguments,
                                                  const Stream& stream, const ir::Graph* graph) {
  if (LaunchCache::Lease found = cache_->find(stream.state(), arguments)) return found;
  if (LaunchCache::Lease oldest = cache_->take_oldest()) {
    oldest->schedule->set(program_, arguments, stream.device(), graph);
    oldest->arguments.reset(oldest->schedule->list());
    cache_->put_back(oldest, stream.state());
    return oldest;
  }
  return cache_->add(stream.state(), schedule_for(arguments, stream.device(), graph));
}

std::shared_ptr<Schedule> ProgramRunner::schedule_for(std::span<const ArgumentView> arguments,
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
  auto made = std::make_shared<Schedule>(program_, arguments, device, graph);
  const std::lock_guard lock(mutex_);
  schedules_.insert(schedules_.begin(), made);
  if (schedules_.size() > kept_schedules) schedules_.pop_back();
  return made;
}

/// Enqueues the constant actions. From the second call on, the entry keeps their results.
BufferRef ProgramRunner::compute_constants(const LaunchCache::Lease& entry, const Stream& stream,
                                           const CaptureScope& capture, const WatchedCall* watch) {
  const ConstantActions& constants = *entry->schedule->constants();
  const ConstantMemory memory(constants, stream);
  if (capture.active()) capture.keep({memory.held(), memory.scratch()});
  ArgumentSlots arguments(constants.list);
  arguments.set(constants.list, memory);
  for (const Action& action : constants.list.actions()) {
    const auto enqueue = [&] { enqueue_work(action, arguments, stream); };
    if (watch != nullptr) {
      watch->run(action, enqueue);
    } else {
      enqueue();
    }
  }
  if (!capture.active() && entry.lasts() && entry->calls >= calls_before_constants) {
    release_when_memory_is_short();
    entry->constants = memory.held();
  }
  return memory.held();
}

/// Makes the graph of a launch cache entry after a few calls. If that fails, kernels are still
/// launched one by one.
void ProgramRunner::prepare_graph(const LaunchCache::Lease& entry, const Frame& frame) {
  if (entry->graph || entry->calls > calls_before_graph) return;
  if (entry->calls++ < calls_before_graph || !entry.lasts()) return;
  if (!graphs_are_allowed() || !launcher_->can_make_graph(*entry->schedule)) return;
  release_when_memory_is_short();
  try {
    const bool keep = entry->schedule->arena().bytes <= most_kept;
    entry->graph = launcher_->make_graph(
        *entry->schedule, keep ? frame.arena() : BufferRef(),
        [this, &prepared = entry->schedule->prepared()](const Action& call, const CallBuffers& at) {
          return enqueue_call(call, at, prepared);
        });
  } catch (const Error& failure) {
    log().debug("{}: no CUDA graph is used: {}", program_.name, failure.what());
  }
}

void ProgramRunner::release_when_memory_is_short() {
  std::call_once(releases_memory_, [&] {
    reclaimer_ = add_reclaimer([weak = std::weak_ptr(cache_)](Device, std::size_t) {
      if (const auto entries = weak.lock()) entries->release_memory();
    });
  });
}

void ProgramRunner::enqueue(LaunchCacheEntry& entry, const CallBuffers& frame, bool captured) {
  const std::span<const Action> actions = entry.schedule->actions();
  for (std::size_t i = 0; i < actions.size();) {
    if (entry.graph && !captured) {
      try {
        const std::size_t next = entry.graph->launch(i, entry.arguments, frame);
        if (next != i) {
          i = next;
          continue;
        }
      } catch (const Error& failure) {
        log().debug("{}: the CUDA graph is no longer used: {}", program_.name, failure.what());
        entry.graph.reset();
      }
    }
    if (i > 0) interruptible_step();
    enqueue_one(actions[i++], entry.arguments, frame, entry.schedule->prepared());
  }
}

/// Enqueues the actions one by one, because the actions within a graph cannot be timed
/// individually.
void ProgramRunner::enqueue_watched(LaunchCacheEntry& entry, const CallBuffers& frame,
                                    const WatchedCall& call) {
  for (const Action& action : entry.schedule->actions()) {
    call.run(action,
             [&] { enqueue_one(action, entry.arguments, frame, entry.schedule->prepared()); });
  }
}

void ProgramRunner::enqueue_one(const Action& action, ArgumentSlots& arguments,
                                const CallBuffers& frame, const Prepared& prepared) {
  if (action.kind == Action::Kind::call) {
    enqueue_call(action, frame, prepared);
  } else {
    enqueue_work(action, arguments, frame.stream());
  }
}

void ProgramRunner::enqueue_work(const Action& action, ArgumentSlots& arguments,
                                 const Stream& stream) {
  if (action.kind == Action::Kind::launch) {
    launcher_->launch(*action.step, action.blocks,
                      {arguments.values(action), arguments.pointers(action)}, stream);
  } else {
    fill(reinterpret_cast<void*>(arguments.values(action)[0].low), 0, action.bytes, stream);
  }
}

void ProgramRunner::enqueue_call(const Action& action, const CallBuffers& frame,
                                 const Prepared& prepared) {
  using Outcome = PreparedCall::Outcome;
  const ScheduledCall& call = *action.call;
  if (!call.fallback) {
    if (call.work->enqueue(frame) != Outcome::enqueued)
      throw InternalError(program_.name + ": a library refused a call that has no fallback");
    return;
  }
  std::atomic<bool>& refused = refused_[action.step_index];
  if (!refused.load(std::memory_order_relaxed)) {
    const Outcome outcome = call.work->enqueue(frame);
    if (outcome == Outcome::enqueued) return;
    if (outcome == Outcome::refused && !refused.exchange(true))
      log().info("{}: {}", program_.name, call.work->refusal());
  }
  run_fallback(*call.fallback, frame, prepared);
}

void ProgramRunner::run_fallback(const ScheduledFallback& fallback, const CallBuffers& outer,
                                 const Prepared& prepared) {
  const FallbackBuffers frame(outer, fallback.bytes, prepared.arena_label);
  ArgumentSlots arguments(fallback.list);
  arguments.set(fallback.list, static_cast<const CallBuffers&>(frame));
  frame.run(fallback.list, arguments, frame);
}

}  // namespace heddle::runtime
