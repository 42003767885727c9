#include "runtime/cuda/program_graph.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"

namespace heddle::runtime::cuda {

namespace {

DevicePointer cleared_address(const Action& clear, const ArgumentSlots& arguments) {
  return arguments.values(clear)[0].low;
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
    any |= clears || launches;
  }
  return any;
}

CudaGraph::CudaGraph(const Schedule& schedule, const CudaLauncher& launcher,
                     ArgumentSlots& arguments, BufferRef arena, int ordinal)
    : ProgramGraph(std::move(arena)),
      actions_(schedule.actions()),
      context_(primary_context(ordinal)) {
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    if (actions_[i].kind == Action::Kind::call) continue;
    Segment& segment = *segments_.emplace_back(std::make_unique<Segment>());
    segment.first = i;
    while (i < actions_.size() && actions_[i].kind != Action::Kind::call) ++i;
    segment.last = i;
    build(segment, launcher, arguments);
  }
}

CudaGraph::Segment::~Segment() {
  if (unusable()) return;
  // One that is running goes when it is done.
  if (executable != nullptr) driver().graph_exec_destroy.attempt(executable);
  if (graph != nullptr) driver().graph_destroy.attempt(graph);
}

void CudaGraph::build(Segment& segment, const CudaLauncher& launcher, ArgumentSlots& arguments) {
  driver().graph_create(&segment.graph, 0);
  segment.nodes.reserve(segment.last - segment.first);
  for (std::size_t i = segment.first; i < segment.last; ++i) {
    add_node(segment, i, launcher, arguments);
    arguments.settle(i);
  }
  driver().graph_instantiate(&segment.executable, segment.graph, 0);
}

/// Behind the one before it: steps follow each other as on a stream.
void CudaGraph::add_node(Segment& segment, std::size_t index, const CudaLauncher& launcher,
                         ArgumentSlots& arguments) {
  const Action& action = actions_[index];
  const Driver& table = driver();
  const GraphNodeHandle* const before =
      segment.nodes.empty() ? nullptr : &segment.nodes.back().handle;
  const std::size_t count = segment.nodes.empty() ? 0 : 1;
  Node node;
  node.action = index;
  if (action.kind == Action::Kind::clear) {
    node.clears = true;
    node.memset.destination = cleared_address(action, arguments);
    node.memset.width = action.bytes;
    table.graph_add_memset_node(&node.handle, segment.graph, before, count, &node.memset, context_);
  } else {
    node.kernel = launcher.node_params(*action.step, action.blocks);
    node.kernel.parameters = arguments.pointers(action);
    table.graph_add_kernel_node(&node.handle, segment.graph, before, count, &node.kernel);
    if (action.step->cluster > 1) {
      LaunchAttributeValue value{};
      value.cluster_dimension[0] = action.step->cluster;
      value.cluster_dimension[1] = value.cluster_dimension[2] = 1;
      table.graph_kernel_node_set_attribute(node.handle, LaunchAttributeId::cluster_dimension,
                                            &value);
    }
    ++segment.kernels;
  }
  segment.nodes.push_back(node);
}

std::size_t CudaGraph::launch(std::size_t action, ArgumentSlots& arguments, const Stream& stream) {
  Segment& segment = **std::ranges::find(
      segments_, action, [](const std::unique_ptr<Segment>& each) { return each->first; });
  if (fault::point(fault::Kind::launch))
    throw DeviceError("the launch of a graph failed (injected fault)");
  for (Node& node : segment.nodes) {
    if (arguments.changed(node.action)) patch(segment, node, arguments);
  }
  driver().graph_launch(segment.executable, stream.handle());
  statistics().kernel_launches.fetch_add(static_cast<std::uint64_t>(segment.kernels),
                                         std::memory_order_relaxed);
  return segment.last;
}

/// For launches to come; those that are enqueued or running keep what they were given.
void CudaGraph::patch(Segment& segment, Node& node, ArgumentSlots& arguments) {
  const Driver& table = driver();
  if (node.clears) {
    node.memset.destination = cleared_address(actions_[node.action], arguments);
    table.graph_exec_memset_node_set_params(segment.executable, node.handle, &node.memset,
                                            context_);
  } else {
    table.graph_exec_kernel_node_set_params(segment.executable, node.handle, &node.kernel);
  }
  arguments.settle(node.action);
}

}  // namespace heddle::runtime::cuda
