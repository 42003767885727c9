#pragma once

#include <functional>
#include <vector>

#include "runtime/calls/call_handler.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/frame.h"

namespace heddle::runtime {

/// Enqueues the actions of a part of the program.
using RunActions =
    std::function<void(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at)>;

/// The buffers of one call of a program, as seen by the library calls among its steps.
class ProgramCallBuffers final : public CallBuffers {
 public:
  /// Keeps references to all constructor arguments.
  ProgramCallBuffers(const Frame& frame, const Stream& stream, const CaptureScope& capture,
                     const RunActions& run)
      : CallBuffers(stream), frame_(frame), capture_(capture), run_(run) {}

  std::byte* address(const passes::BufferRef& buffer) const override {
    return frame_.address(buffer);
  }
  const ir::ElementBits& scalar(std::uint32_t input) const override { return frame_.scalar(input); }
  BufferRef allocate(std::size_t bytes, const Label& label) const override;
  void run(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at) const override {
    run_(list, arguments, at);
  }

 private:
  const Frame& frame_;
  const CaptureScope& capture_;
  const RunActions& run_;
};

/// The same for the steps of a fallback. Owns the fallback's temporary buffers.
class FallbackBuffers final : public CallBuffers {
 public:
  /// Keeps a reference to `outer`. Throws OutOfMemory, DeviceError.
  FallbackBuffers(const CallBuffers& outer, const std::vector<std::size_t>& bytes,
                  const Label& label);

  std::byte* address(const passes::BufferRef& buffer) const override;
  const ir::ElementBits& scalar(std::uint32_t input) const override { return outer_.scalar(input); }
  BufferRef allocate(std::size_t bytes, const Label& label) const override {
    return outer_.allocate(bytes, label);
  }
  void run(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at) const override {
    outer_.run(list, arguments, at);
  }

 private:
  const CallBuffers& outer_;
  std::vector<BufferRef> buffers_;
};

}  // namespace heddle::runtime
