#pragma once

#include <span>
#include <vector>

#include "runtime/cuda/driver.h"
#include "runtime/device/stream.h"

namespace heddle::runtime::cuda {

/// A graph. Throws DeviceError where it cannot be made.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  GraphHandle handle() const { return graph_; }

 private:
  GraphHandle graph_ = nullptr;
};

/// What was instantiated from a graph. Destroyed while it runs, it runs to its end.
class ExecutableGraph {
 public:
  /// Throws DeviceError.
  explicit ExecutableGraph(GraphHandle graph);
  ~ExecutableGraph();
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;
  GraphExecHandle handle() const { return executable_; }

 private:
  GraphExecHandle executable_ = nullptr;
};

/// The graph that is being captured from a stream, and the nodes after which the next one comes.
struct CapturedGraph {
  GraphHandle graph = nullptr;
  std::vector<GraphNodeHandle> last;
};
/// Throws DeviceError.
CapturedGraph captured_graph(const Stream& stream);

/// Adds what is enqueued on a stream to a graph, until finish() or destruction. For drivers that
/// have `stream_begin_capture_to_graph`.
class StreamCapture {
 public:
  /// `after`: nodes of the graph. Keeps a reference to the stream. Throws DeviceError.
  StreamCapture(const Stream& stream, GraphHandle graph, std::span<const GraphNodeHandle> after);
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;
  /// The last nodes that were added, or else `after`. Throws DeviceError.
  std::vector<GraphNodeHandle> finish();

 private:
  const Stream& stream_;
  bool active_ = true;
};

}  // namespace heddle::runtime::cuda
