#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "passes/program/program.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

class ActionList;     // runtime/launch/schedule.h
class ArgumentSlots;  // runtime/launch/schedule.h

/// The context in which a library call is prepared: the sizes of one schedule, on one device.
struct CallContext {
  std::span<const passes::ProgramInput> inputs;  ///< of the program
  const ir::SymbolBindings& bindings;
  Device device;
};

/// The buffers and scalars of one run of a library call.
class CallBuffers {
 public:
  /// Keeps a reference to the stream.
  explicit CallBuffers(const Stream& stream) : stream_(stream) {}
  CallBuffers(const CallBuffers&) = delete;
  CallBuffers& operator=(const CallBuffers&) = delete;
  virtual ~CallBuffers() = default;

  virtual std::byte* address(const passes::BufferRef& buffer) const = 0;
  /// Scalar input `input` of the program.
  virtual const ir::ElementBits& scalar(std::uint32_t input) const = 0;
  /// Memory on the stream's device. Work enqueued before the release may use it. A CUDA graph being
  /// captured keeps it. Throws OutOfMemory, DeviceError.
  virtual BufferRef allocate(std::size_t bytes, const Label& label) const = 0;
  /// Enqueues the actions of a part of the program, whose memory is `at`. Throws as they do, and
  /// InternalError where a library call is run outside of a program.
  virtual void run(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at) const;
  const Stream& stream() const { return stream_; }

 private:
  const Stream& stream_;
};

/// A library call with all sizes evaluated. Immutable; shared by all threads.
class PreparedCall {
 public:
  enum class Outcome : std::uint8_t {
    enqueued,
    unsuited,  ///< not possible with these scalars: the fallback runs for this call only
    refused    ///< not supported by the library: the fallback runs from now on
  };

  virtual ~PreparedCall() = default;
  /// Enqueues the call on the frame's stream. Only a call with a fallback may return an outcome
  /// other than `enqueued`; then nothing is enqueued. Throws DeviceError, OutOfMemory.
  virtual Outcome enqueue(const CallBuffers& frame) const = 0;
  /// About how many nodes it adds to a CUDA graph that is launched many times. Null if it cannot be
  /// captured into one: its work uses memory other than the frame's, or waits for the device.
  virtual std::optional<std::size_t> graph_nodes() const { return std::nullopt; }
  /// Why the library refused it, for the log.
  virtual std::string refusal() const { return {}; }
  /// The operands as text for profiles, given the text of each operand's type.
  virtual std::string operands(const std::vector<std::string>& types) const;
};

/// The work of a library call with known sizes: kernels to launch (none if there is nothing to do),
/// or an object that enqueues it. Launches have constant grids and sizes, and refer to the call's
/// buffers.
using CallWork = std::variant<std::vector<passes::KernelStep>, std::unique_ptr<const PreparedCall>>;

/// Runs the library calls of one name on one kind of device.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  /// Evaluates everything that is the same for each run. Thread-safe. Throws InternalError if the
  /// handler does not support the call, DeviceError.
  virtual CallWork prepare(const passes::CallStep& call, const CallContext& context) const = 0;
};

}  // namespace heddle::runtime
