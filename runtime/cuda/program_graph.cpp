#include "runtime/cuda/program_graph.h"

#include <algorithm>

#include "runtime/cuda/devices.h"

namespace heddle::runtime::cuda {

namespace {

bool is_call(const Action& action) { return action.kind == Action::Kind::call; }

/// Loops of more steps are enqueued step by step: a node takes the driver a microsecond to make,
/// and memory on the device.
constexpr std::size_t most_nodes = 4096;

bool is_capturable(const Action& action) {
  if (!is_call(action)) return true;
  return driver().stream_begin_capture_to_graph && driver().stream_get_capture_info &&
         graph_nodes(action).value_or(most_nodes) < most_nodes;
}

}  // namespace

bool CudaGraph::possible(const Schedule& schedule) {
  const Driver& table = driver();
  if (!table.graph_add_kernel_node || !table.graph_exec_kernel_node_set_params) return false;
  bool any = false;
  for (const Action& action : schedule.actions()) {
    const bool clears = action.kind == Action::Kind::clear;
    if (clears && (!table.graph_add_memset_node || !table.graph_exec_memset_node_set_params))
      return false;
    const bool launches = action.kind == Action::Kind::launch;
    if (launches && action.step->cluster > 1 && !table.graph_kernel_node_set_attribute)
      return false;
    any |= is_capturable(action);
  }
  return any;
}

CudaGraph::CudaGraph(const Schedule& schedule, const CudaLauncher& launcher, BufferRef arena,
                     EnqueueCall enqueue_call, int ordinal)
    : ProgramGraph(std::move(arena)),
      actions_(schedule.actions()),
      launcher_(launcher),
      enqueue_call_(std::move(enqueue_call)),
      context_(primary_context(ordinal)) {
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    if (!is_capturable(actions_[i])) continue;
    const std::size_t first = i;
    while (i < actions_.size() && is_capturable(actions_[i])) ++i;
    add_range(first, i);
  }
}

void CudaGraph::add_range(std::size_t first, std::size_t last) {
  const auto begin = actions_.begin();
  if (std::any_of(begin + static_cast<std::ptrdiff_t>(first),
                  begin + static_cast<std::ptrdiff_t>(last), is_call)) {
    Range& range = ranges_.emplace_back(Range{first, last, {}});
    range.recordings.emplace(actions_, first, last, launcher_, enqueue_call_);
  }
  for (std::size_t i = first; i < last; ++i) {
    if (is_call(actions_[i])) continue;
    Segment& segment = segments_.emplace_back(Segment{i, i, nullptr});
    while (i < last && !is_call(actions_[i])) ++i;
    segment.last = i;
  }
}

std::size_t CudaGraph::launch(std::size_t action, ArgumentSlots& arguments,
                              const CallBuffers& frame) {
  const auto range = std::ranges::find(ranges_, action, &Range::first);
  if (range != ranges_.end()) {
    if (GraphSegment* const whole = range->recordings->find(arguments, frame, context_)) {
      whole->launch(arguments, frame.stream());
      return range->last;
    }
  }
  if (is_call(actions_[action])) return action;
  Segment& segment = segment_from(action, arguments);
  segment.graph->launch(arguments, frame.stream());
  return segment.last;
}

CudaGraph::Segment& CudaGraph::segment_from(std::size_t action, ArgumentSlots& arguments) {
  Segment& segment = *std::ranges::find(segments_, action, &Segment::first);
  if (segment.graph) return segment;
  auto graph = std::make_unique<GraphSegment>(actions_, context_);
  for (std::size_t i = segment.first; i < segment.last; ++i) graph->add(i, launcher_, arguments);
  graph->instantiate();
  segment.graph = std::move(graph);
  return segment;
}

}  // namespace heddle::runtime::cuda
