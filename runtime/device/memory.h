#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/device/device.h"
#include "runtime/device/pool.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

class BufferRef;

/// A block of a device's memory with a count of its holders. Goes back to its pool, or to whoever
/// lent it, with the last of them; at process exit too, in any order.
class Buffer {
 public:
  void* pointer() const { return pointer_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return stream_->device; }
  /// The stream that it was allocated on.
  Stream stream() const { return Stream::of(stream_); }
  bool is_of(const Stream& stream) const { return stream_ == stream.state(); }
  /// False for memory that someone else owns.
  bool pooled() const { return !on_release_; }

  /// What OutOfMemory's text says of it from now on. Of who holds it alone.
  void describe(const Label& label, ir::Location line);

  /// Tells that work on another stream than its own uses it: the pool waits for what that stream
  /// holds when the buffer dies. Thread-safe.
  void used_on(const Stream& stream);

 private:
  friend class BufferRef;
  friend BufferRef allocate(std::size_t, const Stream&, const Label&, ir::Location);
  friend BufferRef borrow(void*, std::size_t, const Stream&, std::function<void()>);
  Buffer(StreamState* stream, void* pointer, std::size_t bytes, Chunk* chunk)
      : stream_(stream), pointer_(pointer), bytes_(bytes), chunk_(chunk) {}
  ~Buffer();

  std::atomic<int> references_{0};
  StreamState* stream_;
  void* pointer_;
  std::size_t bytes_;
  Chunk* chunk_;  ///< null for borrowed and empty buffers
  std::function<void()> on_release_;
  ir::Mutex mutex_;  ///< guards users_
  std::vector<StreamState*> users_;
};

/// Holds a Buffer, or nothing.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& other) : BufferRef(other.buffer_) {}
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef();

  Buffer* operator->() const { return buffer_; }
  Buffer& operator*() const { return *buffer_; }
  Buffer* get() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  /// True when nobody else holds it.
  bool unique() const {
    return buffer_ != nullptr && buffer_->references_.load(std::memory_order_acquire) == 1;
  }
  friend bool operator==(const BufferRef& a, const BufferRef& b) { return a.buffer_ == b.buffer_; }

 private:
  friend BufferRef allocate(std::size_t, const Stream&, const Label&, ir::Location);
  friend BufferRef borrow(void*, std::size_t, const Stream&, std::function<void()>);
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {
    if (buffer_ != nullptr) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer* buffer_ = nullptr;
};

/// A block from the pool of the stream's device, usable at once by work on that stream. 512-byte
/// aligned; its content is arbitrary (0xff when HEDDLE_POISON=1). For 0 bytes the pointer is null.
/// `line` is where the user's program asks for it. When there is no memory, reclaimers run, the
/// pool gives back what is free on all streams, and it tries once more, at last among what other
/// streams have free. Throws OutOfMemory, with the request, the pool's numbers and the largest
/// blocks by label and line; DeviceError.
BufferRef allocate(std::size_t bytes, const Stream& stream, const Label& label = nullptr,
                   ir::Location line = {});
/// "f32[8,1024] of softmax", or "f32[8,1024]" of nothing that has a name.
Label label_of(const ir::Type& type, std::string_view of = {});

/// Fills a buffer that is used anew with 0xff when HEDDLE_POISON=1, in the stream's order, as
/// allocate() does. Throws DeviceError.
void poison(const Buffer& buffer, const Stream& stream);

/// Memory that someone else owns and that stays valid until `on_release` is called.
BufferRef borrow(void* pointer, std::size_t bytes, const Stream& stream,
                 std::function<void()> on_release);

/// The pool of a device, for its numbers, its limit and trim. HEDDLE_MEMORY_LIMIT (bytes, or with
/// K, M, G behind) is every pool's limit at the start. Throws DeviceError.
MemoryPool& pool_of(Device device);

/// Adds what may give memory up when a device has none left (kept arenas, pending programs). It is
/// called with no lock held, and must not throw. Returns a number for remove_reclaimer.
int add_reclaimer(std::function<void(Device, std::size_t bytes_wanted)> reclaimer);
void remove_reclaimer(int number);

}  // namespace heddle::runtime
