#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/launcher.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime::cuda {

/// A graph that is captured from a stream. The capture ends with this object, or with finish().
class StreamCapture {
 public:
  /// Throws DeviceError.
  explicit StreamCapture(const Stream& stream);
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;
  /// What was captured, as long as this lives. Throws DeviceError.
  GraphHandle finish();

 private:
  const Stream& stream_;
  GraphHandle graph_ = nullptr;
  bool active_ = true;
};

/// Consecutive actions of a schedule as one executable graph, in which each waits for the one
/// before it. Arguments of kernels and addresses of fills are patched where they have changed.
class GraphSegment {
 public:
  /// Refers to the actions. The device has been entered. Throws DeviceError.
  GraphSegment(std::span<const Action> actions, ContextHandle context);
  GraphSegment(const GraphSegment&) = delete;
  GraphSegment& operator=(const GraphSegment&) = delete;
  ~GraphSegment();

  /// Adds a launch or a fill, by its index among the actions.
  void add(std::size_t action, const CudaLauncher& launcher, ArgumentSlots& arguments);
  /// Adds a copy of a graph, whose nodes are not patched; `kernels` of them are the program's.
  void add_child(GraphHandle graph, std::size_t kernels);
  /// Comes once, after all has been added.
  void instantiate();

  /// Enqueues all of it. When it throws, nothing was enqueued. Launches must be of one stream,
  /// whose order keeps one from overtaking another, and of one thread at a time.
  void launch(ArgumentSlots& arguments, const Stream& stream);

 private:
  struct Node {
    std::size_t action = 0;
    bool clears = false;
    GraphNodeHandle handle = nullptr;
    KernelNodeParams kernel;
    MemsetNodeParams memset;
    std::uint64_t version = 0;           ///< of the arguments when they were last compared
    std::vector<ir::ElementBits> given;  ///< the arguments that the executable graph has
  };
  void add_fill(Node& node, ArgumentSlots& arguments);
  void add_kernel(Node& node, const CudaLauncher& launcher, ArgumentSlots& arguments);
  void patch(Node& node, ArgumentSlots& arguments);

  std::span<const Action> actions_;
  ContextHandle context_;
  std::vector<Node> nodes_;
  GraphNodeHandle last_ = nullptr;
  GraphHandle graph_ = nullptr;
  GraphExecHandle executable_ = nullptr;
  std::uint64_t kernels_ = 0;
};

}  // namespace heddle::runtime::cuda
