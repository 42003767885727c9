#pragma once

#include <vector>

#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

class Backend;

/// A call on a stream from which somebody may be capturing a graph. While that is so, the calls
/// that the driver takes for unsafe then, memory from the device among them, are allowed to
/// this thread: none of ours has to do with what is captured.
class CaptureScope {
 public:
  explicit CaptureScope(const Stream& stream);
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  bool active() const { return active_; }
  /// Keeps the buffers for as long as the captured graph, and all that is made of it, is there.
  /// Throws DeviceError.
  void keep(std::vector<BufferRef> buffers) const;

 private:
  const Stream& stream_;
  bool active_;
  int mode_ = 0;
};

/// While one lives, this thread may ask about events and wait for them though somebody captures a
/// graph, with which they have nothing to do.
class RelaxedCaptureScope {
 public:
  explicit RelaxedCaptureScope(Device device);
  ~RelaxedCaptureScope();
  RelaxedCaptureScope(const RelaxedCaptureScope&) = delete;
  RelaxedCaptureScope& operator=(const RelaxedCaptureScope&) = delete;

 private:
  const Backend& backend_;
  int mode_;
};

}  // namespace heddle::runtime
