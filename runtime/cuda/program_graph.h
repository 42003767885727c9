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

/// A ProgramGraph of executable CUDA graphs, which are made at their first launch. Library calls
/// that cannot be captured divide the actions into ranges. A range is launched as one graph if
/// there is a graph whose captured library calls match the run; otherwise the kernels between two
/// library calls form a graph.
class CudaGraph final : public ProgramGraph {
 public:
  /// Whether the driver supports such graphs and the schedule contains something to put into them.
  static bool possible(const Schedule& schedule);

  /// See KernelLauncher::make_graph.
  CudaGraph(const Schedule& schedule, const CudaLauncher& launcher, BufferRef arena,
            EnqueueCall enqueue_call, int ordinal);
  std::size_t launch(std::size_t action, ArgumentSlots& arguments,
                     const CallBuffers& frame) override;

 private:
  struct Range {
    std::size_t first = 0, last = 0;  ///< indices of actions; `last` is past the end
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
  std::vector<Range> ranges_;      ///< the ranges with library calls, in order
  std::vector<Segment> segments_;  ///< runs of actions between library calls, in order
};

}  // namespace heddle::runtime::cuda
