#pragma once

#include <vector>

#include "runtime/cuda_driver.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace heddle::runtime {

/// A call on a stream from which somebody may be capturing a CUDA graph. While that is so, the
/// calls that the driver takes for unsafe then, memory from the device among them, are allowed to
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
  cuda::CaptureMode mode_ = cuda::CaptureMode::relaxed;
};

/// While one lives, this thread may ask about events and wait for them though somebody captures a
/// CUDA graph, with which they have nothing to do.
class RelaxedCaptureScope {
 public:
  RelaxedCaptureScope();
  ~RelaxedCaptureScope();
  RelaxedCaptureScope(const RelaxedCaptureScope&) = delete;
  RelaxedCaptureScope& operator=(const RelaxedCaptureScope&) = delete;

 private:
  cuda::CaptureMode mode_ = cuda::CaptureMode::relaxed;
};

}  // namespace heddle::runtime
