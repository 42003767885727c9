#include "runtime/cuda/graph_segment.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"

namespace heddle::runtime::cuda {

GraphSegment::GraphSegment(std::span<const Action> actions, ContextHandle context)
    : actions_(actions), context_(context) {}

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
  last_ = {node.handle};
  nodes_.push_back(std::move(node));
}

void GraphSegment::add_fill(Node& node, ArgumentSlots& arguments) {
  const Action& action = actions_[node.action];
  node.memset.destination = arguments.values(action)[0].low;
  node.memset.width = action.bytes;
  driver().graph_add_memset_node(&node.handle, graph_.handle(), last_.data(), last_.size(),
                                 &node.memset, context_);
}

void GraphSegment::add_kernel(Node& node, const CudaLauncher& launcher, ArgumentSlots& arguments) {
  const Action& action = actions_[node.action];
  node.kernel = launcher.node_params(*action.step, action.blocks);
  node.kernel.parameters = arguments.pointers(action);
  driver().graph_add_kernel_node(&node.handle, graph_.handle(), last_.data(), last_.size(),
                                 &node.kernel);
  ++kernels_;
  if (action.step->cluster <= 1) return;
  LaunchAttributeValue value{};
  value.cluster_dimension[0] = action.step->cluster;
  value.cluster_dimension[1] = value.cluster_dimension[2] = 1;
  driver().graph_kernel_node_set_attribute(node.handle, LaunchAttributeId::cluster_dimension,
                                           &value);
}

StreamCapture GraphSegment::begin_capture(const Stream& stream) const {
  return {stream, graph_.handle(), last_};
}

void GraphSegment::end_capture(StreamCapture& capture, std::size_t kernels) {
  last_ = capture.finish();
  kernels_ += kernels;
}

void GraphSegment::instantiate() { executable_.emplace(graph_.handle()); }

void GraphSegment::launch(ArgumentSlots& arguments, const Stream& stream) {
  if (fault::point(fault::Kind::launch))
    throw DeviceError("the launch of a graph failed (injected fault)");
  for (Node& node : nodes_) {
    if (arguments.version(node.action) != node.version) patch(node, arguments);
  }
  driver().graph_launch(executable_->handle(), stream.handle());
  statistics().kernel_launches.fetch_add(kernels_, std::memory_order_relaxed);
}

/// Updates a node for future launches. Enqueued or running launches keep their arguments.
void GraphSegment::patch(Node& node, ArgumentSlots& arguments) {
  const Action& action = actions_[node.action];
  const auto values = arguments.values(action);
  if (!std::ranges::equal(values, node.given)) {
    if (node.clears) {
      node.memset.destination = values[0].low;
      driver().graph_exec_memset_node_set_params(executable_->handle(), node.handle, &node.memset,
                                                 context_);
    } else {
      driver().graph_exec_kernel_node_set_params(executable_->handle(), node.handle, &node.kernel);
    }
    std::ranges::copy(values, node.given.begin());
  }
  node.version = arguments.version(node.action);
}

}  // namespace heddle::runtime::cuda
