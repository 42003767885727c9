#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/device/handles.h"
#include "runtime/device/process_sharing.h"

namespace heddle::runtime {

class CapturedWork;
class Event;

/// The shared state of a Stream. Never destroyed: an unused one is reused by the next
/// Stream::create of its kind, so that memory freed on it is ordered before the new work.
struct StreamState {
  Device device;
  StreamHandle handle = nullptr;  ///< null if work is done synchronously
  StreamKind kind;
  std::atomic<int> references{0};
  bool borrowed = false;
  std::uint32_t number = 0;  ///< from 1, unique among streams that have a handle
};

/// An in-order queue of work on a device. A handle: copies refer to the same queue. A device that
/// is not asynchronous, such as the CPU, has one stream, and a call that enqueues work returns when
/// the work is done.
class Stream {
 public:
  /// A separate stream; unused streams of the kind are reused. Throws DeviceError.
  static Stream create(Device device, const StreamKind& kind = {});
  /// The calling thread's own stream on a device, made when first asked for. Throws DeviceError.
  static Stream own(Device device);
  /// The calling thread's stream on a device: its own unless another one was set. Throws
  /// DeviceError.
  static Stream current(Device device);
  /// Makes a stream the calling thread's current one on its device.
  static void set_current(Stream stream);
  /// Wraps a stream that someone else created. They must destroy it only after the buffers
  /// allocated on it. The same handle gives the same stream; the handle of a stream of ours, that
  /// stream.
  static Stream borrow(Device device, StreamHandle handle);
  /// The stream of a state that a buffer refers to.
  static Stream of(StreamState* state) { return Stream(state); }

  Stream(const Stream& other) : Stream(other.state_) {}
  Stream(Stream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Stream& operator=(Stream other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Stream();

  Device device() const { return state_->device; }
  StreamHandle handle() const { return state_->handle; }
  StreamState* state() const { return state_; }

  /// Blocks until everything enqueued so far is done. Throws DeviceError if that work failed.
  void synchronize() const;
  /// True when nothing is pending.
  bool idle() const;
  /// True while a CUDA graph is being captured from the stream: nothing may synchronise or
  /// allocate.
  bool capturing() const;
  /// Work enqueued from now on starts after the event, without blocking the host.
  void wait(const Event& event) const;
  /// Work enqueued from now on starts after what the other stream holds now. A captured graph
  /// cannot wait for work outside of it, so the host then waits. Throws DeviceError.
  void wait_for(const Stream& other) const;
  /// Calls the function on another thread when the work enqueued so far is done, and delays later
  /// work until it returns. It must call nothing that uses the device. Captured into a graph, it is
  /// called at each launch. It is not called if the device has failed. On a synchronous device it
  /// is called here. It is destroyed on that thread as well. Throws DeviceError.
  void call_on_host(std::function<void()> function) const;

  /// Captures what is enqueued from now on into a graph instead of running it. Throws DeviceError.
  void begin_capture(CaptureMode mode) const;
  /// Ends the capture, also if it throws. Throws DeviceError.
  std::unique_ptr<CapturedWork> end_capture() const;

  friend bool operator==(const Stream& a, const Stream& b) { return a.state_ == b.state_; }

 private:
  explicit Stream(StreamState* state);
  StreamState* state_ = nullptr;
};

/// Makes a stream the calling thread's current one on its device, for a scope.
class StreamScope {
 public:
  explicit StreamScope(Stream stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream before_;
};

/// A point in a stream's work.
class Event {
 public:
  /// Marks the end of everything enqueued on the stream now. Timed events can be subtracted. Throws
  /// DeviceError.
  explicit Event(const Stream& stream, bool timed = false);
  /// An event that is not recorded yet, which counts as done. Throws DeviceError.
  Event(Device device, const EventKind& kind);
  /// An event of another process. Throws DeviceError.
  Event(Device device, const IpcHandle& handle);
  Event(Event&& other) noexcept
      : device_(other.device_),
        handle_(std::exchange(other.handle_, nullptr)),
        timed_(other.timed_),
        pooled_(other.pooled_),
        when_(other.when_) {}
  Event& operator=(Event&& other) noexcept;
  ~Event();

  Device device() const { return device_; }
  EventHandle handle() const { return handle_; }
  /// Marks the end of everything enqueued on the stream now. What waits for the mark before keeps
  /// waiting for that. Throws DeviceError.
  void record(const Stream& stream);
  bool done() const;
  void synchronize() const;
  /// Both events must be timed and done. Throws DeviceError.
  double milliseconds_since(const Event& start) const;

 private:
  Device device_;
  EventHandle handle_ = nullptr;
  bool timed_ = false;
  bool pooled_ = true;  ///< the handle may serve another event
  std::chrono::steady_clock::time_point when_;
};

/// The device that owns the memory at a pointer, or the CPU for host memory that GPUs can access.
/// nullopt for memory that no driver knows. Throws DeviceError.
std::optional<Device> device_of_pointer(const void* pointer);

/// What shares the device's memory and events with other processes. Throws DeviceError if nothing
/// does; `what` is what was asked of it.
const ProcessSharing& process_sharing_of(Device device, const char* what);

/// Copies bytes between any two devices, in the stream's order. If a GPU takes part, the stream
/// must be a GPU's. When a copy from host memory returns, the source may be reused, and a copy to
/// pageable host memory is complete; a copy to pinned host memory must be waited for. Throws
/// DeviceError.
void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
          const Stream& stream);
/// Sets bytes, in the stream's order. Throws DeviceError.
void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream);
/// Blocks until all work on all streams of the device is done. Throws DeviceError.
void synchronize(Device device);
/// Blocks until the work is done that the calling thread has enqueued, on all devices: on its
/// current streams and on those of ours that were current before. Throws DeviceError.
void synchronize_thread();

}  // namespace heddle::runtime
