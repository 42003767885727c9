#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda/launcher.h"
#include "runtime/launch/program_graph.h"

namespace heddle::runtime::cuda {

/// As executable CUDA graphs.
class CudaGraph final : public ProgramGraph {
 public:
  /// Whether the driver can.
  static bool possible(const Schedule& schedule);

  /// As KernelLauncher::make_graph.
  CudaGraph(const Schedule& schedule, const CudaLauncher& launcher, ArgumentSlots& arguments,
            BufferRef arena, int ordinal);
  std::size_t launch(std::size_t action, ArgumentSlots& arguments, const Stream& stream) override;

 private:
  struct Node {
    std::size_t action = 0;
    bool clears = false;
    GraphNodeHandle handle = nullptr;
    KernelNodeParams kernel;
    MemsetNodeParams memset;
  };
  struct Segment {
    std::size_t first = 0, last = 0;  ///< of the actions, behind the last
    std::vector<Node> nodes;
    GraphHandle graph = nullptr;
    GraphExecHandle executable = nullptr;
    int kernels = 0;
    Segment() = default;
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment();
  };
  void build(Segment& segment, const CudaLauncher& launcher, ArgumentSlots& arguments);
  void add_node(Segment& segment, std::size_t action, const CudaLauncher& launcher,
                ArgumentSlots& arguments);
  void patch(Segment& segment, Node& node, ArgumentSlots& arguments);

  std::span<const Action> actions_;
  ContextHandle context_;
  std::vector<std::unique_ptr<Segment>> segments_;  ///< in order
};

}  // namespace heddle::runtime::cuda
