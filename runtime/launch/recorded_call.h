#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// The addresses and scalars that library calls asked for while a graph of them was captured. They
/// are constants of the graph, so that it serves other runs only while the answers are the same.
class CallUses {
 public:
  void note(const passes::BufferRef& buffer, std::byte* address);
  void note(std::uint32_t input, const ir::ElementBits& scalar);
  /// Whether `frame` would give the same answers.
  bool hold(const CallFrame& frame) const;
  /// A hash of the answers that `frame` would give.
  std::uint64_t hash(const CallFrame& frame) const;

 private:
  std::vector<std::pair<passes::BufferRef, std::byte*>> addresses_;
  std::vector<std::pair<std::uint32_t, ir::ElementBits>> scalars_;
};

/// Scratch memory of captured library calls. Calls of a graph run one after the other, as do graphs
/// of one stream, so that all of them share it. Thread-safe.
class CallScratch {
 public:
  /// Memory at least that large, on the stream: the same for each call that asks for its `index`-th
  /// piece, until one asks for more. Who captures an address holds the buffer. Throws OutOfMemory,
  /// DeviceError.
  BufferRef take(std::size_t index, std::size_t bytes, const Label& label, const Stream& stream);
  /// The one of a stream; it lives as long as somebody holds it.
  static std::shared_ptr<CallScratch> of(const Stream& stream);

 private:
  ir::Mutex mutex_;
  std::vector<BufferRef> pieces_;
};

/// The memory of a library call that is captured: that of a run, with scratch memory that outlasts
/// it. Keeps a list of what it is asked for.
class RecordingFrame final : public CallFrame {
 public:
  /// Refers to all that it is given. `capturing` is the stream that is captured; scratch memory is
  /// of `run`'s stream. Scratch buffers are put behind `held`.
  RecordingFrame(const CallFrame& run, const Stream& capturing, CallUses& uses,
                 CallScratch& scratch, std::vector<BufferRef>& held)
      : CallFrame(capturing), run_(run), uses_(uses), scratch_(scratch), held_(held) {}

  std::byte* address(const passes::BufferRef& buffer) const override;
  const ir::ElementBits& scalar(std::uint32_t input) const override;
  BufferRef allocate(std::size_t bytes, const Label& label) const override;

 private:
  const CallFrame& run_;
  CallUses& uses_;
  CallScratch& scratch_;
  std::vector<BufferRef>& held_;
  mutable std::size_t pieces_ = 0;  ///< that the call has taken
};

}  // namespace heddle::runtime
