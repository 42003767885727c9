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

/// Graphs of the same actions, with library calls among them. A library call is captured with its
/// addresses and scalars as constants, so that there is one graph for each set of these that comes
/// back: a loop whose results take turns between two buffers has two.
class CallRecordings {
 public:
  /// Refers to all that it is given, whose actions are [first, last).
  CallRecordings(std::span<const Action> actions, std::size_t first, std::size_t last,
                 const CudaLauncher& launcher, const EnqueueCall& enqueue_call)
      : actions_(actions),
        first_(first),
        last_(last),
        launcher_(launcher),
        enqueue_call_(enqueue_call) {}

  /// The graph that serves the run; null where there is none, and making one is not worthwhile or
  /// has failed.
  GraphSegment* find(ArgumentSlots& arguments, const CallFrame& run, ContextHandle context);

 private:
  /// A program keeps this many, and captures no more once it has made `most_made`.
  static constexpr std::size_t most_kept = 4;
  static constexpr int most_made = 16;

  struct Recording {
    CallUses uses;
    std::shared_ptr<CallScratch> scratch;
    std::vector<BufferRef> held;  ///< scratch memory whose addresses were captured
    std::unique_ptr<GraphSegment> graph;
  };

  bool is_worthwhile(const CallFrame& run);
  std::unique_ptr<Recording> record(ArgumentSlots& arguments, const CallFrame& run,
                                    ContextHandle context) const;

  std::span<const Action> actions_;
  std::size_t first_, last_;
  const CudaLauncher& launcher_;
  const EnqueueCall& enqueue_call_;
  std::vector<std::unique_ptr<Recording>> recordings_;  ///< most recently used first
  std::array<std::uint64_t, 8> unserved_{};             ///< CallUses::hash of runs without a graph
  std::size_t next_unserved_ = 0;
  int made_ = 0;
};

}  // namespace heddle::runtime::cuda
