#pragma once

#include <cstddef>
#include <utility>

#include "runtime/calls/call_handler.h"
#include "runtime/device/memory.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// A schedule's actions as graphs of the device: a graph costs the host one call however many
/// kernels it has. Library calls that can be captured are in them; others stand between them.
/// Launches must be of one stream, whose order keeps one from overtaking another, and of one
/// thread at a time.
class ProgramGraph {
 public:
  virtual ~ProgramGraph() = default;
  ProgramGraph(const ProgramGraph&) = delete;
  ProgramGraph& operator=(const ProgramGraph&) = delete;

  const BufferRef& arena() const { return arena_; }
  /// Enqueues the actions from `action` on that are one graph, and returns the index behind them:
  /// `action` itself where it is a library call that no graph has. When it throws, nothing was
  /// enqueued, and the graphs are of no use any more.
  virtual std::size_t launch(std::size_t action, ArgumentSlots& arguments,
                             const CallFrame& frame) = 0;

 protected:
  explicit ProgramGraph(BufferRef arena) : arena_(std::move(arena)) {}

 private:
  BufferRef arena_;
};

}  // namespace heddle::runtime
