#pragma once

#include <cstddef>
#include <utility>

#include "runtime/device/memory.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// A schedule's launches and fills as graphs of the device, one for each run of them between two
/// library calls: a graph costs the host one call however many kernels it has. Addresses and
/// scalars are patched where they differ from the call before. Launches must be of one stream,
/// whose order keeps one from overtaking another, and of one thread at a time.
class ProgramGraph {
 public:
  virtual ~ProgramGraph() = default;
  ProgramGraph(const ProgramGraph&) = delete;
  ProgramGraph& operator=(const ProgramGraph&) = delete;

  const BufferRef& arena() const { return arena_; }
  /// Enqueues the actions from `action` to the next library call, and returns where that stands.
  /// When it throws, nothing was enqueued, and the graph is of no use any more.
  virtual std::size_t launch(std::size_t action, ArgumentSlots& arguments,
                             const Stream& stream) = 0;

 protected:
  explicit ProgramGraph(BufferRef arena) : arena_(std::move(arena)) {}

 private:
  BufferRef arena_;
};

}  // namespace heddle::runtime
