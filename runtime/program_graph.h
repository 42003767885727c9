#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda_driver.h"
#include "runtime/launcher.h"
#include "runtime/memory.h"
#include "runtime/schedule.h"

namespace heddle::runtime {

/// A schedule's launches and clears as executable CUDA graphs, one for each run of them between two
/// library steps: a graph costs the host one call however many kernels it has. Addresses and
/// scalars are patched where they differ from the call before. Launches must be of one stream,
/// whose order keeps one from overtaking another, and of one thread at a time.
class ProgramGraph {
 public:
  /// Whether the driver can, and HEDDLE_GRAPHS=0 does not forbid it.
  static bool possible(const Schedule& schedule, Device device);

  /// With the arguments as they are now. Holds `arena` for the calls to come, if it is given one.
  /// The device's context is current, here and at launches. Throws DeviceError, OutOfMemory.
  ProgramGraph(const Schedule& schedule, const KernelLauncher& launcher, ArgumentSlots& arguments,
               BufferRef arena, Device device);
  ~ProgramGraph();
  ProgramGraph(const ProgramGraph&) = delete;
  ProgramGraph& operator=(const ProgramGraph&) = delete;

  const BufferRef& arena() const { return arena_; }
  /// Enqueues the actions from `action` to the next library step, and returns where that stands.
  /// When it throws, nothing was enqueued, and the graph is of no use any more.
  std::size_t launch(std::size_t action, ArgumentSlots& arguments, const Stream& stream);

 private:
  struct Node {
    std::size_t action = 0;
    bool clears = false;
    cuda::GraphNodeHandle handle = nullptr;
    cuda::KernelNodeParams kernel;
    cuda::MemsetNodeParams memset;
  };
  struct Segment {
    std::size_t first = 0, last = 0;  ///< of the actions, behind the last
    std::vector<Node> nodes;
    cuda::GraphHandle graph = nullptr;
    cuda::GraphExecHandle executable = nullptr;
    int kernels = 0;
    Segment() = default;
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment();
  };
  void build(Segment& segment, const KernelLauncher& launcher, ArgumentSlots& arguments);
  void add_node(Segment& segment, std::size_t action, const KernelLauncher& launcher,
                ArgumentSlots& arguments);
  void patch(Segment& segment, Node& node, ArgumentSlots& arguments);

  std::span<const Action> actions_;
  BufferRef arena_;
  cuda::ContextHandle context_;
  std::vector<std::unique_ptr<Segment>> segments_;  ///< in order
};

}  // namespace heddle::runtime
