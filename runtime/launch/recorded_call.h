#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// The addresses and scalars that library calls read while they were captured into a graph. They
/// are constants of the graph, so the graph can be reused only while they are unchanged.
class CallUses {
 public:
  void note(const passes::BufferRef& buffer, std::byte* address);
  void note(std::uint32_t input, const ir::ElementBits& scalar);
  /// Whether the buffers and scalars of `frame` are the same.
  bool hold(const CallBuffers& frame) const;
  /// A hash of the corresponding addresses and scalars of `frame`.
  std::uint64_t hash(const CallBuffers& frame) const;

 private:
  std::vector<std::pair<passes::BufferRef, std::byte*>> addresses_;
  std::vector<std::pair<std::uint32_t, ir::ElementBits>> scalars_;
};

/// Scratch memory of captured library calls. All calls share it, because calls of a graph and
/// graphs on one stream run one after another. Thread-safe.
class CallScratch {
 public:
  /// Memory of at least `bytes` on the stream. Each call's `index`-th request returns the same
  /// piece, until a call requests more. The caller that captures an address must hold the buffer.
  /// Throws OutOfMemory, DeviceError.
  BufferRef take(std::size_t index, std::size_t bytes, const Label& label, const Stream& stream);
  /// The scratch memory of a stream; it lives as long as somebody holds it.
  static std::shared_ptr<CallScratch> of(const Stream& stream);

 private:
  ir::Mutex mutex_;
  std::vector<BufferRef> pieces_;
};

/// The buffers of a library call during capture: those of the run, and scratch memory that outlives
/// the run. Records every address and scalar that the call reads, and counts the kernels of the
/// program that it launches.
class RecordingBuffers final : public CallBuffers {
 public:
  /// Keeps references to all constructor arguments. `capturing` is the stream being captured;
  /// scratch memory belongs to `run`'s stream. Scratch buffers are appended to `held`.
  RecordingBuffers(const CallBuffers& run, const Stream& capturing, CallUses& uses,
                   CallScratch& scratch, std::vector<BufferRef>& held)
      : CallBuffers(capturing), run_(run), uses_(uses), scratch_(scratch), held_(held) {}

  std::byte* address(const passes::BufferRef& buffer) const override;
  const ir::ElementBits& scalar(std::uint32_t input) const override;
  BufferRef allocate(std::size_t bytes, const Label& label) const override;
  void run(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at) const override;
  std::size_t kernels() const { return kernels_; }

 private:
  const CallBuffers& run_;
  CallUses& uses_;
  CallScratch& scratch_;
  std::vector<BufferRef>& held_;
  /// For each piece of scratch memory, the reference that was last given out. A piece is free again
  /// when this is the only reference to it. So the steps of a loop share their pieces.
  mutable std::vector<BufferRef> lent_;
  mutable std::size_t kernels_ = 0;
};

}  // namespace heddle::runtime
