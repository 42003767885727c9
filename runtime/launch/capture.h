#pragma once

#include <memory>
#include <vector>

#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

class Backend;

/// The scope of a call on a stream from which a graph may be being captured. During a capture, the
/// driver forbids this thread calls that it considers unsafe, such as memory allocation. The scope
/// permits them: none of Heddle's calls interferes with the capture.
class CaptureScope {
 public:
  explicit CaptureScope(const Stream& stream);
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  bool active() const { return active_; }
  /// Keeps the buffers, and the module of the kernels, as long as the captured graph and everything
  /// instantiated from it. Throws DeviceError.
  void keep(std::vector<BufferRef> buffers, std::shared_ptr<const void> module = nullptr) const;

 private:
  const Stream& stream_;
  bool active_;
  int mode_ = 0;
};

/// Unloads the modules that only destroyed graphs have kept. This waits for the device, so call it
/// outside of captures.
void unload_abandoned_modules();
/// Returns the buffers of destroyed graphs to their pools. Must be called where the device may be
/// used. keep(), and a lack of memory, call it too.
void release_destroyed_graphs();

/// Work enqueued on `stream` from now on starts after what `other` holds now. A captured graph
/// cannot wait for work outside of it, so the host waits then. Throws DeviceError.
void start_after(const Stream& stream, const Stream& other);

/// While an instance lives, this thread may query events and wait for them during a graph capture.
/// This does not interfere with the capture.
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
