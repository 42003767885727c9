#include "runtime/cuda/stream_capture.h"

#include "runtime/cuda/devices.h"

namespace heddle::runtime::cuda {

Graph::Graph() { driver().graph_create(&graph_, 0); }

Graph::~Graph() {
  if (!unusable()) driver().graph_destroy.attempt(graph_);
}

ExecutableGraph::ExecutableGraph(GraphHandle graph) {
  driver().graph_instantiate(&executable_, graph, 0);
}

ExecutableGraph::~ExecutableGraph() {
  if (!unusable()) driver().graph_exec_destroy.attempt(executable_);
}

CapturedGraph captured_graph(const Stream& stream) {
  CapturedGraph captured;
  CaptureStatus status = CaptureStatus::none;
  const GraphNodeHandle* last = nullptr;
  std::size_t count = 0;
  driver().stream_get_capture_info(stream.handle(), &status, nullptr, &captured.graph, &last,
                                   &count);
  captured.last.assign(last, last + count);
  return captured;
}

StreamCapture::StreamCapture(const Stream& stream, GraphHandle graph,
                             std::span<const GraphNodeHandle> after)
    : stream_(stream) {
  // Relaxed mode: calls of other threads and memory allocations by a library do not affect the
  // capture.
  driver().stream_begin_capture_to_graph(stream.handle(), graph, after.data(), nullptr,
                                         after.size(), CaptureMode::relaxed);
}

StreamCapture::~StreamCapture() {
  GraphHandle graph = nullptr;  // the caller's
  if (active_) driver().stream_end_capture.attempt(stream_.handle(), &graph);
}

std::vector<GraphNodeHandle> StreamCapture::finish() {
  CapturedGraph captured = captured_graph(stream_);
  active_ = false;
  driver().stream_end_capture(stream_.handle(), &captured.graph);
  return std::move(captured.last);
}

}  // namespace heddle::runtime::cuda
