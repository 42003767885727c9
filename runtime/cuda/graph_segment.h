#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/cuda/launcher.h"
#include "runtime/cuda/stream_capture.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime::cuda {

/// Consecutive actions of a schedule as one executable graph, executed in sequence. Kernel
/// arguments and fill addresses are patched when they have changed.
class GraphSegment {
 public:
  /// Keeps a reference to the actions. The device has been entered. Throws DeviceError.
  GraphSegment(std::span<const Action> actions, ContextHandle context);
  GraphSegment(const GraphSegment&) = delete;
  GraphSegment& operator=(const GraphSegment&) = delete;

  /// Adds a launch or a fill, by its index among the actions.
  void add(std::size_t action, const CudaLauncher& launcher, ArgumentSlots& arguments);
  /// Captures what comes next; end it with end_capture(). These nodes are not patched.
  StreamCapture begin_capture(const Stream& stream) const;
  /// `kernels` of its kernels are the program's own.
  void end_capture(StreamCapture& capture, std::size_t kernels);
  /// Call once, after everything has been added.
  void instantiate();

  /// Enqueues the whole graph. If it throws, nothing was enqueued. All launches must use the same
  /// stream, whose order prevents overlapping runs, and one thread at a time.
  void launch(ArgumentSlots& arguments, const Stream& stream);

 private:
  struct Node {
    std::size_t action = 0;
    bool clears = false;
    GraphNodeHandle handle = nullptr;
    KernelNodeParams kernel;
    MemsetNodeParams memset;
    std::uint64_t version = 0;           ///< version of the arguments at the last comparison
    std::vector<ir::ElementBits> given;  ///< the arguments in the executable graph
  };
  void add_fill(Node& node, ArgumentSlots& arguments);
  void add_kernel(Node& node, const CudaLauncher& launcher, ArgumentSlots& arguments);
  void patch(Node& node, ArgumentSlots& arguments);

  std::span<const Action> actions_;
  ContextHandle context_;
  std::vector<Node> nodes_;
  std::vector<GraphNodeHandle> last_;
  Graph graph_;
  std::optional<ExecutableGraph> executable_;
  std::uint64_t kernels_ = 0;
};

}  // namespace heddle::runtime::cuda
