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

/// A reference-counted block of device memory. The last release returns it to its pool, or to its
/// owner if it is borrowed. Releasing it during process exit is safe, in any order.
class Buffer {
 public:
  void* pointer() const { return pointer_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return stream_->device; }
  /// The stream on which it was allocated.
  Stream stream() const { return Stream::of(stream_); }
  bool is_of(const Stream& stream) const { return stream_ == stream.state(); }
  /// False for borrowed memory, which someone else owns.
  bool pooled() const { return !on_release_; }
  /// Whether a program that is given the buffer may write to it in place.
  bool overwritable() const { return pooled() || overwritable_; }

  /// Sets the label and source location that OutOfMemory reports for it. Only the sole holder may
  /// call this.
  void describe(const Label& label, ir::Location line);

  /// Records that work on a stream other than its own uses the buffer. When the buffer dies, the
  /// pool waits for the work that this stream holds then. A borrowed stream may be destroyed before
  /// that. So call this after enqueuing the work on it; the buffer's own stream then waits for the
  /// work. Thread-safe. Throws DeviceError.
  void used_on(const Stream& stream);
  /// Makes a stream wait for this work of other streams, before it overwrites the buffer.
  void wait_for_users(const Stream& stream);

 private:
  friend class BufferRef;
  friend BufferRef allocate(std::size_t, const Stream&, const Label&, ir::Location);
  friend BufferRef borrow(void*, std::size_t, const Stream&, std::function<void()>, bool);
  Buffer(StreamState* stream, void* pointer, std::size_t bytes, Chunk* chunk)
      : stream_(stream), pointer_(pointer), bytes_(bytes), chunk_(chunk) {}
  ~Buffer();

  std::atomic<int> references_{0};
  StreamState* stream_;
  void* pointer_;
  std::size_t bytes_;
  Chunk* chunk_;  ///< null for borrowed and empty buffers
  std::function<void()> on_release_;
  bool overwritable_ = false;
  ir::Mutex mutex_;  ///< guards users_
  std::vector<StreamState*> users_;
};

/// A reference to a Buffer, or null.
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
  /// True if this is the only reference.
  bool unique() const {
    return buffer_ != nullptr && buffer_->references_.load(std::memory_order_acquire) == 1;
  }
  friend bool operator==(const BufferRef& a, const BufferRef& b) { return a.buffer_ == b.buffer_; }

 private:
  friend BufferRef allocate(std::size_t, const Stream&, const Label&, ir::Location);
  friend BufferRef borrow(void*, std::size_t, const Stream&, std::function<void()>, bool);
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {
    if (buffer_ != nullptr) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer* buffer_ = nullptr;
};

/// Allocates from the pool of the stream's device. Work on that stream may use the block at once.
/// It is 512-byte aligned; its content is undefined (0xff if HEDDLE_POISON=1). For 0 bytes the
/// pointer is null. `line` is the source location of the request in the user's program. When memory
/// is short, the reclaimers run, the pool returns the free memory of all streams to the device, and
/// the allocation is tried again, at last from the free memory of other streams. Throws
/// OutOfMemory, with the request, the pool's statistics and the largest blocks by label and line;
/// DeviceError.
BufferRef allocate(std::size_t bytes, const Stream& stream, const Label& label = nullptr,
                   ir::Location line = {});
/// "f32[8,1024] of softmax", or "f32[8,1024]" if `of` is empty.
Label label_of(const ir::Type& type, std::string_view of = {});

/// Fills a reused buffer with 0xff if HEDDLE_POISON=1, in the stream's order, as allocate() does.
/// Throws DeviceError.
void poison(const Buffer& buffer, const Stream& stream);

/// Wraps memory owned by someone else, which stays valid until `on_release` is called.
/// `overwritable`: a program that is given it may write to it in place.
BufferRef borrow(void* pointer, std::size_t bytes, const Stream& stream,
                 std::function<void()> on_release, bool overwritable = false);

/// A device's memory pool: its statistics, limit and trim. HEDDLE_MEMORY_LIMIT (bytes, or with a
/// suffix K, M or G) is the initial limit of every pool. Throws DeviceError.
MemoryPool& pool_of(Device device);

/// Registers a function that may free memory when a device runs out (cached arenas, pending
/// programs). It is called with no lock held, and must not throw. Returns an id for
/// remove_reclaimer.
int add_reclaimer(std::function<void(Device, std::size_t bytes_wanted)> reclaimer);
void remove_reclaimer(int number);

}  // namespace heddle::runtime
