#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/cuda/call_recordings.h"
#include "runtime/cuda/graph_segment.h"
#include "runtime/cuda/launcher.h"
#include "runtime/launch/program_graph.h"

namespace heddle::runtime::cuda {

/// As executable CUDA graphs, made when they are first launched. Library calls that cannot be
/// captured divide the actions into ranges. A range is one graph where one with its library calls
/// serves the run; else its kernels between two library calls are one.
class CudaGraph final : public ProgramGraph {
 public:
  /// Whether the driver can, and there is something to put into graphs.
  static bool possible(const Schedule& schedule);

  /// As KernelLauncher::make_graph.
  CudaGraph(const Schedule& schedule, const CudaLauncher& launcher, BufferRef arena,
            EnqueueCall enqueue_call, int ordinal);
  std::size_t launch(std::size_t action, ArgumentSlots& arguments, const CallFrame& frame) override;

 private:
  struct Range {
    std::size_t first = 0, last = 0;  ///< of the actions, behind the last
    std::optional<CallRecordings> recordings;
  };
  struct Segment {
    std::size_t first = 0, last = 0;
    std::unique_ptr<GraphSegment> graph;
  };
  void add_range(std::size_t first, std::size_t last);
  Segment& segment_from(std::size_t action, ArgumentSlots& arguments);

  std::span<const Action> actions_;
  const CudaLauncher& launcher_;
  EnqueueCall enqueue_call_;
  ContextHandle context_;
  std::vector<Range> ranges_;      ///< those with library calls, in order
  std::vector<Segment> segments_;  ///< between library calls, in order
};

}  // namespace heddle::runtime::cuda
