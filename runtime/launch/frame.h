#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "passes/program/program.h"
#include "runtime/launch/arguments.h"
#include "runtime/launch/prepared.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// Memory that a call does not allocate itself; both may be null.
struct GivenMemory {
  BufferRef arena;      ///< for the temporaries
  BufferRef constants;  ///< the results of the schedule's constant actions
};

/// The buffers of one call. Maps buffer references in steps to addresses.
class Frame {
 public:
  /// Makes the stream wait for the arguments, copies donated ones that have other holders, and
  /// allocates the outputs, which are appended to `outputs`, and the arena unless one is given.
  /// Throws OutOfMemory, DeviceError.
  Frame(const passes::Program& program, const Schedule& schedule,
        std::span<const ArgumentView> arguments, const CallerLocations& lines, Stream& stream,
        bool captured, GivenMemory memory, std::vector<DeviceArray>& outputs);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  /// Removes the outputs again unless finish() was called.
  ~Frame();

  std::byte* address(const passes::BufferRef& reference) const;
  const ir::ElementBits& scalar(std::uint32_t input) const { return arguments_[input].scalar.bits; }
  /// The arena of the program's temporaries; null if it has none.
  const BufferRef& arena() const { return arena_; }
  /// All buffers that the call reads or writes.
  std::vector<BufferRef> buffers() const;

  /// Call when all work is enqueued.
  void finish();

 private:
  std::byte* address_of_temporary(std::uint32_t index) const;
  const DeviceArray& input(std::uint32_t index) const;
  void wait_for_inputs();
  void release_inputs() noexcept;
  void own_donated_inputs();
  void allocate_outputs();

  const passes::Program& program_;
  const Schedule& schedule_;
  const Prepared& prepared_;
  std::span<const ArgumentView> arguments_;
  const CallerLocations& lines_;
  Stream& stream_;
  bool captured_;  ///< into a user's CUDA graph
  std::vector<std::pair<std::uint32_t, DeviceArray>>
      copies_;  ///< of donated inputs that have other holders
  std::vector<DeviceArray>& outputs_;
  std::size_t first_output_;
  bool finished_ = false;
  BufferRef arena_, constants_;
};

}  // namespace heddle::runtime
