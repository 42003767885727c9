#include "runtime/program_runner.h"

#include <algorithm>
#include <optional>

#include "heddle/error.h"

#include "ir/fork_gate.h"
#include "runtime/log.h"
#include "runtime/sort.h"
#include "runtime/statistics.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kept_schedules = 8;
/// Calls of a lane before its graph is made, which costs as much as some tens of launches.
constexpr int calls_before_graph = 2;
/// A graph keeps memory for temporaries of up to this many bytes from call to call. Larger ones are
/// worth more to others in between, and their addresses are patched where they change.
constexpr std::int64_t most_kept = std::int64_t{16} << 20;

void sort(const passes::SortStep& step, const PreparedSort& prepared, const Frame& frame) {
  sort_rows(step.dtype, step.indices, frame.address(step.keys), frame.address(step.out),
            frame.address(step.scratch[0]), prepared.rows, prepared.length);
}

}  // namespace

ProgramRunner::~ProgramRunner() {
  if (reclaimer_ >= 0) remove_reclaimer(reclaimer_);
}

void ProgramRunner::run(std::span<const ArgumentView> arguments, Stream& stream,
                        std::vector<DeviceArray>& outputs, const CallerLines& lines) {
  const ir::Span span(ir::Phase::launch, [&] { return lines.name_of(program_.name); });
  const ir::ForkSection section;
  const Device device = stream.device();
  std::optional<cuda::ContextScope> context;
  if (device.is_cuda()) context.emplace(device.ordinal);
  const CaptureScope capture(stream);
  const Lanes::Lease lane = lane_for(arguments, stream, lines.graph);
  Frame frame(program_, lane->schedule->prepared(), arguments, lines, stream, capture.active(),
              lane->graph ? lane->graph->arena() : BufferRef(), outputs);
  lane->arguments.set(*lane->schedule, frame);
  if (capture.active()) {
    // The graph that is captured may be launched long after this call's arrays are gone.
    capture.keep(frame.buffers());
  } else {
    prepare_graph(lane, frame, device);
  }
  if (span.data() != nullptr && ir::kernels_watched()) [[unlikely]] {
    enqueue_watched(*lane, frame,
                    {program_, *lane->schedule, arguments, lines, stream, capture.active()}, stream,
                    capture);
  } else {
    enqueue(*lane, frame, stream, capture);
  }
  frame.finish();
  statistics().program_launches.fetch_add(1, std::memory_order_relaxed);
}

Lanes::Lease ProgramRunner::lane_for(std::span<const ArgumentView> arguments, const Stream& stream,
                                     const ir::Graph* graph) {
  if (Lanes::Lease found = lanes_->find(stream.state(), arguments)) return found;
  return lanes_->add(stream.state(), schedule_for(arguments, graph));
}

std::shared_ptr<const Schedule> ProgramRunner::schedule_for(std::span<const ArgumentView> arguments,
                                                            const ir::Graph* graph) {
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(schedules_, [&](const auto& each) { return each->fits(arguments); });
    if (found != schedules_.end()) {
      std::rotate(schedules_.begin(), found, found + 1);
      return schedules_.front();
    }
  }
  auto made = std::make_shared<const Schedule>(program_, arguments, graph);
  const std::lock_guard lock(mutex_);
  schedules_.insert(schedules_.begin(), made);
  if (schedules_.size() > kept_schedules) schedules_.pop_back();
  return made;
}

/// Makes the graph of a lane that has been called a few times. Where that fails the kernels are
/// launched one by one, as before.
void ProgramRunner::prepare_graph(const Lanes::Lease& lane, const Frame& frame, Device device) {
  if (lane->graph || lane->calls > calls_before_graph) return;
  if (lane->calls++ < calls_before_graph || !lane.lasts()) return;
  if (!ProgramGraph::possible(*lane->schedule, device)) return;
  std::call_once(gives_up_graphs_, [&] {
    reclaimer_ = add_reclaimer([weak = std::weak_ptr(lanes_)](Device, std::size_t) {
      if (const auto lanes = weak.lock()) lanes->give_up_graphs();
    });
  });
  try {
    const bool keep = lane->schedule->prepared().arena.bytes <= most_kept;
    lane->graph = std::make_unique<ProgramGraph>(*lane->schedule, *launcher_, lane->arguments,
                                                 keep ? frame.arena() : BufferRef(), device);
  } catch (const Error& failure) {
    log().debug("{}: no graph: {}", program_.name, failure.what());
  }
}

void ProgramRunner::enqueue(Lane& lane, const Frame& frame, const Stream& stream,
                            const CaptureScope& capture) {
  const std::span<const Action> actions = lane.schedule->actions();
  for (std::size_t i = 0; i < actions.size();) {
    if (lane.graph && !capture.active() && actions[i].kind != Action::Kind::library) {
      try {
        i = lane.graph->launch(i, lane.arguments, stream);
        continue;
      } catch (const Error& failure) {
        log().debug("{}: the graph is given up: {}", program_.name, failure.what());
        lane.graph.reset();
      }
    }
    enqueue_one(actions[i++], lane, frame, stream, capture);
  }
}

/// One by one: of what a graph launches nobody knows when it begins and ends.
void ProgramRunner::enqueue_watched(Lane& lane, const Frame& frame, const WatchedCall& call,
                                    const Stream& stream, const CaptureScope& capture) {
  for (const Action& action : lane.schedule->actions())
    call.run(action, [&] { enqueue_one(action, lane, frame, stream, capture); });
}

void ProgramRunner::enqueue_one(const Action& action, Lane& lane, const Frame& frame,
                                const Stream& stream, const CaptureScope& capture) {
  if (action.kind == Action::Kind::launch) {
    launcher_->launch(*action.step, action.blocks,
                      {lane.arguments.values(action), lane.arguments.pointers(action)}, stream);
    return;
  }
  if (action.kind == Action::Kind::clear) {
    fill(reinterpret_cast<void*>(lane.arguments.values(action)[0].low), 0, action.bytes, stream);
    return;
  }
  const passes::Step& step = program_.steps[action.step_index];
  const Prepared& prepared = lane.schedule->prepared();
  if (step.kind == passes::Step::Kind::matmul) {
    products_.multiply(action.step_index, prepared, frame, *launcher_, stream, capture);
  } else {
    sort(step.sort, prepared.sorts[action.step_index], frame);
  }
}

}  // namespace heddle::runtime
