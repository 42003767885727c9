#pragma once

#include "heddle/stream.h"

#include "runtime/device/stream.h"

namespace heddle::frontend {

/// Internal access to a Stream.
struct StreamAccess {
  static const runtime::Stream& of(const Stream& stream) { return *stream.stream_; }
};

}  // namespace heddle::frontend
