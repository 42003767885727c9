#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda/graph_segment.h"
#include "runtime/launch/recorded_call.h"

namespace heddle::runtime::cuda {

/// Graphs of the same actions, which include library calls. A captured library call has its
/// addresses and scalars as constants, so each recurring set of these gets its own graph: a loop
/// that alternates between two result buffers has two.
class CallRecordings {
 public:
  /// The actions [first, last) of `actions`. Keeps references to all constructor arguments.
  CallRecordings(std::span<const Action> actions, std::size_t first, std::size_t last,
                 const CudaLauncher& launcher, const EnqueueCall& enqueue_call)
      : actions_(actions),
        first_(first),
        last_(last),
        launcher_(launcher),
        enqueue_call_(enqueue_call) {}

  /// The graph that can serve the run. Null if there is none, and making one is not worthwhile or
  /// has failed.
  GraphSegment* find(ArgumentSlots& arguments, const CallBuffers& run, ContextHandle context);

 private:
  /// At most `most_kept` graphs are kept; after `most_made` captures no more are made.
  static constexpr std::size_t most_kept = 4;
  static constexpr int most_made = 16;

  struct Recording {
    CallUses uses;
    std::shared_ptr<CallScratch> scratch;
    std::vector<BufferRef> held;  ///< scratch memory whose addresses were captured
    std::unique_ptr<GraphSegment> graph;
  };

  bool is_worthwhile(const CallBuffers& run);
  std::unique_ptr<Recording> record(ArgumentSlots& arguments, const CallBuffers& run,
                                    ContextHandle context) const;

  std::span<const Action> actions_;
  std::size_t first_, last_;
  const CudaLauncher& launcher_;
  const EnqueueCall& enqueue_call_;
  std::vector<std::unique_ptr<Recording>> recordings_;  ///< most recently used first
  std::array<std::uint64_t, 8> unserved_{};             ///< CallUses::hash of recent runs without a
                                                        ///< graph
  std::size_t next_unserved_ = 0;
  int made_ = 0;
};

}  // namespace heddle::runtime::cuda
