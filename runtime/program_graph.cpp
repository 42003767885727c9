#include "runtime/program_graph.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "heddle/error.h"

#include "runtime/fault.h"
#include "runtime/statistics.h"

namespace heddle::runtime {

namespace {

bool allowed() {
  static const bool on = [] {
    const char* text = std::getenv("HEDDLE_GRAPHS");
    return text == nullptr || std::string_view(text) != "0";
  }();
  return on;
}

cuda::DevicePointer cleared_address(const Action& clear, const ArgumentSlots& arguments) {
  return arguments.values(clear)[0].low;
}

}  // namespace

bool ProgramGraph::possible(const Schedule& schedule, Device device) {
  if (!device.is_cuda() || !allowed()) return false;
  const cuda::Driver& driver = cuda::driver();
  if (!driver.graph_add_kernel_node || !driver.graph_exec_kernel_node_set_params) return false;
  bool any = false;
  for (const Action& action : schedule.actions()) {
    const bool clears = action.kind == Action::Kind::clear;
    if (clears && (!driver.graph_add_memset_node || !driver.graph_exec_memset_node_set_params))
      return false;
    const bool launches = action.kind == Action::Kind::launch;
    if (launches && action.step->cluster > 1 && !driver.graph_kernel_node_set_attribute)
      return false;
    any |= clears || launches;
  }
  return any;
}

ProgramGraph::ProgramGraph(const Schedule& schedule, const KernelLauncher& launcher,
                           ArgumentSlots& arguments, BufferRef arena, Device device)
    : actions_(schedule.actions()),
      arena_(std::move(arena)),
      context_(cuda::primary_context(device.ordinal)) {
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    if (actions_[i].kind == Action::Kind::library) continue;
    Segment& segment = *segments_.emplace_back(std::make_unique<Segment>());
    segment.first = i;
    while (i < actions_.size() && actions_[i].kind != Action::Kind::library) ++i;
    segment.last = i;
    build(segment, launcher, arguments);
  }
}

ProgramGraph::~ProgramGraph() = default;

ProgramGraph::Segment::~Segment() {
  if (cuda::unusable()) return;
  // One that is running goes when it is done.
  if (executable != nullptr) cuda::driver().graph_exec_destroy.attempt(executable);
  if (graph != nullptr) cuda::driver().graph_destroy.attempt(graph);
}

void ProgramGraph::build(Segment& segment, const KernelLauncher& launcher,
                         ArgumentSlots& arguments) {
  cuda::driver().graph_create(&segment.graph, 0);
  segment.nodes.reserve(segment.last - segment.first);
  for (std::size_t i = segment.first; i < segment.last; ++i) {
    add_node(segment, i, launcher, arguments);
    arguments.settle(i);
  }
  cuda::driver().graph_instantiate(&segment.executable, segment.graph, 0);
}

/// Behind the one before it: steps follow each other as on a stream.
void ProgramGraph::add_node(Segment& segment, std::size_t index, const KernelLauncher& launcher,
                            ArgumentSlots& arguments) {
  const Action& action = actions_[index];
  const cuda::Driver& driver = cuda::driver();
  const cuda::GraphNodeHandle* const before =
      segment.nodes.empty() ? nullptr : &segment.nodes.back().handle;
  const std::size_t count = segment.nodes.empty() ? 0 : 1;
  Node node;
  node.action = index;
  if (action.kind == Action::Kind::clear) {
    node.clears = true;
    node.memset.destination = cleared_address(action, arguments);
    node.memset.width = action.bytes;
    driver.graph_add_memset_node(&node.handle, segment.graph, before, count, &node.memset,
                                 context_);
  } else {
    node.kernel = launcher.node_params(*action.step, action.blocks);
    node.kernel.parameters = arguments.pointers(action);
    driver.graph_add_kernel_node(&node.handle, segment.graph, before, count, &node.kernel);
    if (action.step->cluster > 1) {
      cuda::LaunchAttributeValue value{};
      value.cluster_dimension[0] = action.step->cluster;
      value.cluster_dimension[1] = value.cluster_dimension[2] = 1;
      driver.graph_kernel_node_set_attribute(node.handle,
                                             cuda::LaunchAttributeId::cluster_dimension, &value);
    }
    ++segment.kernels;
  }
  segment.nodes.push_back(node);
}

std::size_t ProgramGraph::launch(std::size_t action, ArgumentSlots& arguments,
                                 const Stream& stream) {
  Segment& segment = **std::ranges::find(
      segments_, action, [](const std::unique_ptr<Segment>& each) { return each->first; });
  if (fault::point(fault::Kind::launch))
    throw DeviceError("the launch of a graph failed (injected fault)");
  for (Node& node : segment.nodes) {
    if (arguments.changed(node.action)) patch(segment, node, arguments);
  }
  cuda::driver().graph_launch(segment.executable, stream.handle());
  statistics().kernel_launches.fetch_add(static_cast<std::uint64_t>(segment.kernels),
                                         std::memory_order_relaxed);
  return segment.last;
}

/// For launches to come; those that are enqueued or running keep what they were given.
void ProgramGraph::patch(Segment& segment, Node& node, ArgumentSlots& arguments) {
  const cuda::Driver& driver = cuda::driver();
  if (node.clears) {
    node.memset.destination = cleared_address(actions_[node.action], arguments);
    driver.graph_exec_memset_node_set_params(segment.executable, node.handle, &node.memset,
                                             context_);
  } else {
    driver.graph_exec_kernel_node_set_params(segment.executable, node.handle, &node.kernel);
  }
  arguments.settle(node.action);
}

}  // namespace heddle::runtime
