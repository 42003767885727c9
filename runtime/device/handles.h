#pragma once

namespace heddle::runtime {

/// Opaque handles of streams and events. Only the backend knows what they point to.
using StreamHandle = struct StreamOpaque*;
using EventHandle = struct EventOpaque*;

/// How a stream is created. The driver clamps the priority to its range; smaller is more urgent.
struct StreamKind {
  bool waits_for_default = false;  ///< ordered with work on CUDA's legacy default stream
  int priority = 0;

  friend bool operator==(const StreamKind&, const StreamKind&) = default;
};

/// How an event is created.
struct EventKind {
  bool timed = false;
  bool blocking = false;      ///< a thread that waits for it sleeps
  bool interprocess = false;  ///< other processes may open it; such an event is not timed
};

/// What a graph capture forbids to other calls; the values are the driver's.
enum class CaptureMode : int { global = 0, thread = 1, relaxed = 2 };

}  // namespace heddle::runtime
