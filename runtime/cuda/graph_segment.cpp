#include "runtime/cuda/graph_segment.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"

namespace heddle::runtime::cuda {

StreamCapture::StreamCapture(const Stream& stream) : stream_(stream) {
  // Relaxed mode: calls of other threads and memory allocations by a library do not affect the
  // capture.
  driver().stream_begin_capture(stream.handle(), CaptureMode::relaxed);
}

StreamCapture::~StreamCapture() {
  if (active_) driver().stream_end_capture.attempt(stream_.handle(), &graph_);
  if (graph_ != nullptr) driver().graph_destroy.attempt(graph_);
}

GraphHandle StreamCapture::finish() {
  active_ = false;
  driver().stream_end_capture(stream_.handle(), &graph_);
  return graph_;
}

GraphSegment::GraphSegment(std::span<const Action> actions, ContextHandle context)
    : actions_(actions), context_(context) {
  driver().graph_create(&graph_, 0);
}

GraphSegment::~GraphSegment() {
  if (unusable()) return;
  // The driver destroys a running graph when it has finished.
  if (executable_ != nullptr) driver().graph_exec_destroy.attempt(executable_);
  driver().graph_destroy.attempt(graph_);
}

void GraphSegment::add(std::size_t index, const CudaLauncher& launcher, ArgumentSlots& arguments) {
  const Action& action = actions_[index];
  Node node;
  node.action = index;
  node.version = arguments.version(index);
  const auto values = arguments.values(action);
  node.given.assign(values.begin(), values.end());
  node.clears = action.kind == Action::Kind::clear;
  if (node.clears) {
    add_fill(node, arguments);
  } else {
    add_kernel(node, launcher, arguments);
  }
  last_ = node.handle;
  nodes_.push_back(std::move(node));
}

void GraphSegment::add_fill(Node& node, ArgumentSlots& arguments) {
  const Action& action = actions_[node.action];
  node.memset.destination = arguments.values(action)[0].low;
  node.memset.width = action.bytes;
  driver().graph_add_memset_node(&node.handle, graph_, &last_, last_ == nullptr ? 0 : 1,
                                 &node.memset, context_);
}

void GraphSegment::add_kernel(Node& node, const CudaLauncher& launcher, ArgumentSlots& arguments) {
  const Action& action = actions_[node.action];
  node.kernel = launcher.node_params(*action.step, action.blocks);
  node.kernel.parameters = arguments.pointers(action);
  driver().graph_add_kernel_node(&node.handle, graph_, &last_, last_ == nullptr ? 0 : 1,
                                 &node.kernel);
  ++kernels_;
  if (action.step->cluster <= 1) return;
  LaunchAttributeValue value{};
  value.cluster_dimension[0] = action.step->cluster;
  value.cluster_dimension[1] = value.cluster_dimension[2] = 1;
  driver().graph_kernel_node_set_attribute(node.handle, LaunchAttributeId::cluster_dimension,
                                           &value);
}

void GraphSegment::add_child(GraphHandle graph, std::size_t kernels) {
  std::size_t nodes = 0;
  driver().graph_get_nodes(graph, nullptr, &nodes);
  if (nodes == 0) return;
  GraphNodeHandle added = nullptr;
  driver().graph_add_child_graph_node(&added, graph_, &last_, last_ == nullptr ? 0 : 1, graph);
  last_ = added;
  kernels_ += kernels;
}

void GraphSegment::instantiate() { driver().graph_instantiate(&executable_, graph_, 0); }

void GraphSegment::launch(ArgumentSlots& arguments, const Stream& stream) {
  if (fault::point(fault::Kind::launch))
    throw DeviceError("the launch of a graph failed (injected fault)");
  for (Node& node : nodes_) {
    if (arguments.version(node.action) != node.version) patch(node, arguments);
  }
  driver().graph_launch(executable_, stream.handle());
  statistics().kernel_launches.fetch_add(kernels_, std::memory_order_relaxed);
}

/// Updates a node for future launches. Enqueued or running launches keep their arguments.
void GraphSegment::patch(Node& node, ArgumentSlots& arguments) {
  const Action& action = actions_[node.action];
  const auto values = arguments.values(action);
  if (!std::ranges::equal(values, node.given)) {
    if (node.clears) {
      node.memset.destination = values[0].low;
      driver().graph_exec_memset_node_set_params(executable_, node.handle, &node.memset, context_);
    } else {
      driver().graph_exec_kernel_node_set_params(executable_, node.handle, &node.kernel);
    }
    std::ranges::copy(values, node.given.begin());
  }
  node.version = arguments.version(node.action);
}

}  // namespace heddle::runtime::cuda
