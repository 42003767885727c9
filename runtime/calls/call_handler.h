#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "passes/program/program.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

/// What a call is prepared for: the sizes of one schedule, on one device.
struct CallContext {
  std::span<const passes::ProgramInput> inputs;  ///< of the program
  const ir::SymbolBindings& bindings;
  Device device;
};

/// The memory and scalars of one run of a call.
class CallFrame {
 public:
  /// Refers to the stream.
  explicit CallFrame(const Stream& stream) : stream_(stream) {}
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;
  virtual ~CallFrame() = default;

  virtual std::byte* address(const passes::BufferRef& buffer) const = 0;
  /// Scalar input `input` of the program.
  virtual const ir::ElementBits& scalar(std::uint32_t input) const = 0;
  /// Memory on the stream's device. Work that is enqueued before it is released may use it; a CUDA
  /// graph that is being captured keeps it. Throws OutOfMemory, DeviceError.
  virtual BufferRef allocate(std::size_t bytes, const Label& label) const = 0;
  const Stream& stream() const { return stream_; }

 private:
  const Stream& stream_;
};

/// A call with every size known. Immutable: all threads share it.
class PreparedCall {
 public:
  enum class Outcome : std::uint8_t {
    enqueued,
    unsuited,  ///< not with these scalars: the fallback runs, this time
    refused    ///< the library does not do it: the fallback runs from now on
  };

  virtual ~PreparedCall() = default;
  /// Enqueues the call on the frame's stream. Only a call that has a fallback answers otherwise
  /// than `enqueued`; nothing is enqueued then. Throws DeviceError, OutOfMemory.
  virtual Outcome enqueue(const CallFrame& frame) const = 0;
  /// Whether a CUDA graph may capture it and be launched many times: what it enqueues uses no
  /// memory but the frame's, and reads none of the host's.
  virtual bool capturable() const { return false; }
  /// Why it was refused, for the log.
  virtual std::string refusal() const { return {}; }
  /// The operands as profiles show them, given the type of each in words.
  virtual std::string operands(const std::vector<std::string>& types) const;
};

/// What a call comes to for known sizes: kernels to launch, none if there is nothing to do, or what
/// enqueues it. Launches have constant grids and sizes, and name the buffers of the call.
using CallWork = std::variant<std::vector<passes::KernelStep>, std::unique_ptr<const PreparedCall>>;

/// Runs the calls of one name on one kind of device.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  /// Evaluates all that is the same for each run. Thread-safe. Throws InternalError if the call is
  /// not one for this handler, DeviceError.
  virtual CallWork prepare(const passes::CallStep& call, const CallContext& context) const = 0;
};

}  // namespace heddle::runtime
