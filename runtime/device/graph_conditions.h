#pragma once

#include <cstdint>
#include <functional>

#include "runtime/device/stream.h"

namespace heddle::runtime {

/// Loops and branches inside captured graphs, on which the device decides without the host. A
/// condition is a number of the graph being captured; a kernel sets whether it holds
/// (passes::KernelPlan::decides). Calls throw DeviceError.
class GraphConditions {
 public:
  using Enqueue = std::function<void(const Stream& stream)>;
  enum class Kind : std::uint8_t {
    branch,  ///< runs once if the condition holds
    loop     ///< runs as long as it holds
  };

  virtual ~GraphConditions() = default;

  /// A new condition of the graph that is being captured from the stream.
  virtual std::uint64_t add(const Stream& capturing) const = 0;
  /// Adds to the graph that is being captured from the stream what `enqueue` enqueues on the stream
  /// it is given, as far as the condition holds. Work enqueued before has to set the condition.
  virtual void capture(const Stream& capturing, std::uint64_t condition, Kind kind,
                       const Enqueue& enqueue) const = 0;
  /// Calls `enqueue` with a stream that is being captured, and launches that graph on `stream`.
  virtual void run(const Stream& stream, const Enqueue& enqueue) const = 0;
};

}  // namespace heddle::runtime
