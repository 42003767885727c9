#pragma once

#include <cstddef>
#include <utility>

#include "runtime/calls/call_handler.h"
#include "runtime/device/memory.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// A schedule's actions as device graphs. Launching a graph costs the host one call, however many
/// kernels it contains. Library calls that can be captured are part of the graphs; others run
/// between them. All launches must use the same stream, whose order prevents overlapping runs, and
/// one thread at a time.
class ProgramGraph {
 public:
  virtual ~ProgramGraph() = default;
  ProgramGraph(const ProgramGraph&) = delete;
  ProgramGraph& operator=(const ProgramGraph&) = delete;

  const BufferRef& arena() const { return arena_; }
  /// Enqueues the actions from `action` on that form one graph, and returns the index after the
  /// last: `action` itself if it is a library call that is in no graph. If it throws, nothing was
  /// enqueued, and the graphs must not be used any more.
  virtual std::size_t launch(std::size_t action, ArgumentSlots& arguments,
                             const CallBuffers& frame) = 0;

 protected:
  explicit ProgramGraph(BufferRef arena) : arena_(std::move(arena)) {}

 private:
  BufferRef arena_;
};

}  // namespace heddle::runtime
