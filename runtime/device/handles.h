#pragma once

namespace heddle::runtime {

/// Opaque handles of streams and events. Only the backend knows what they point to.
using StreamHandle = struct StreamOpaque*;
using EventHandle = struct EventOpaque*;

}  // namespace heddle::runtime
