#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/device/handles.h"

namespace heddle::runtime {

class Event;

/// What stands behind a Stream. Never destroyed: one that nobody holds any more is given to the
/// next who asks, so that memory which was freed on it stays in order with its new work.
struct StreamState {
  Device device;
  StreamHandle handle = nullptr;  ///< null where work is done at once
  std::atomic<int> references{0};
  bool borrowed = false;
  std::uint32_t number = 0;  ///< of streams that have a handle, from 1; no two have one
};

/// A queue of work on a device, in order. A handle: copies mean the same queue. A device that is
/// not asynchronous, as the CPU, has one stream, and work is done when the call that enqueues it
/// returns.
class Stream {
 public:
  /// A stream of its own; idle ones are used again. Throws DeviceError.
  static Stream create(Device device);
  /// The calling thread's stream on a device: its own non-blocking one unless a StreamScope says
  /// otherwise. Throws DeviceError.
  static Stream current(Device device);
  /// A stream that someone else made and will destroy, after all work and memory on it is done
  /// with. The same handle gives the same stream.
  static Stream borrow(Device device, StreamHandle handle);
  /// The stream behind a state that some buffer remembers.
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

  /// Blocks until everything enqueued so far is done. Throws DeviceError for a failure of it.
  void synchronize() const;
  /// True when nothing is pending.
  bool idle() const;
  /// True while a CUDA graph is being captured from it: nothing may synchronise or allocate.
  bool capturing() const;
  /// Work enqueued from now on starts after the event, without blocking the host.
  void wait(const Event& event) const;

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
  /// Marks all that the stream holds now. Timed events can be subtracted. Throws DeviceError.
  explicit Event(const Stream& stream, bool timed = false);
  Event(Event&& other) noexcept
      : device_(other.device_),
        handle_(std::exchange(other.handle_, nullptr)),
        timed_(other.timed_),
        when_(other.when_) {}
  Event& operator=(Event&& other) noexcept;
  ~Event();

  Device device() const { return device_; }
  EventHandle handle() const { return handle_; }
  bool done() const;
  void synchronize() const;
  /// Of two timed events, both done. Throws DeviceError.
  double milliseconds_since(const Event& start) const;

 private:
  Device device_;
  EventHandle handle_ = nullptr;
  bool timed_ = false;
  std::chrono::steady_clock::time_point when_;
};

/// The device whose memory a pointer is to, or the CPU for memory of the host that GPUs reach. None
/// of memory that no driver knows. Throws DeviceError.
std::optional<Device> device_of_pointer(const void* pointer);

/// Copies bytes between any two devices, in the stream's order. Where a GPU takes part the stream
/// must be a GPU's. A copy from host memory is done with that memory when this returns, as one to
/// pageable host memory is; a copy to pinned host memory has to be waited for. Throws DeviceError.
void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
          const Stream& stream);
/// Sets bytes, in the stream's order. Throws DeviceError.
void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream);
/// Blocks until all work on all streams of the device is done. Throws DeviceError.
void synchronize(Device device);

}  // namespace heddle::runtime
