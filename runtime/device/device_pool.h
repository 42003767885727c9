#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "ir/base/fork_gate.h"
#include "runtime/device/allocator.h"
#include "runtime/device/backend.h"
#include "runtime/device/pool.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

/// Marks the end of a stream's current work with an event. No event can be recorded while a graph
/// is being captured from the stream; the event is then recorded at the first query after the
/// capture.
class EventMarker : public PoolMarker {
 public:
  explicit EventMarker(StreamState* stream) : stream_(stream) { mark(); }
  bool passed() override { return mark() && event_->done(); }
  void wait() override {
    if (mark()) event_->synchronize();
  }

 private:
  bool mark();
  StreamState* stream_;
  ir::Mutex mutex_;             ///< guards the making of event_
  std::optional<Event> event_;  ///< never changes once it is made
};

/// The request for which memory is being reserved on this thread.
struct Reservation {
  const BlockRequest& request;
  const Stream& stream;
};
/// Sets the calling thread's reservation for a scope.
class ReservationScope {
 public:
  explicit ReservationScope(const Reservation& reservation);
  ~ReservationScope();
  ReservationScope(const ReservationScope&) = delete;
  ReservationScope& operator=(const ReservationScope&) = delete;

 private:
  const Reservation* before_;
};

/// Memory of a source on a device, 512-byte aligned. Calls the memory hooks.
class AlignedSource {
 public:
  /// `source` null: the device's backend.
  AlignedSource(Device device, std::shared_ptr<MemorySource> source)
      : device_(device), source_(std::move(source)) {}
  /// Null if there is not enough.
  void* reserve(std::size_t bytes);
  void release(void* pointer, std::size_t bytes) noexcept;

 private:
  struct Original {
    void* pointer;
    std::size_t bytes;
  };
  void* reserve_quietly(std::size_t bytes, const Stream& stream);
  void* reserve_from_source(std::size_t bytes, const Stream& stream);

  Device device_;
  std::shared_ptr<MemorySource> source_;
  ir::Mutex mutex_;                  ///< guards moved_
  std::map<void*, Original> moved_;  ///< what the source gave for pointers that were aligned
};

/// The memory of a device's pool.
class PoolMemory final : public PoolBackend {
 public:
  /// `owner` null: the pool is the device's default one.
  PoolMemory(Device device, std::shared_ptr<MemorySource> source, Allocator* owner)
      : device_(device), memory_(device, std::move(source)), owner_(owner) {}

  Allocator* owner() const { return owner_; }
  void* reserve(std::size_t bytes) override { return memory_.reserve(bytes); }
  void release(void* pointer, std::size_t bytes) noexcept override {
    memory_.release(pointer, bytes);
  }
  std::size_t free_bytes() override { return backend_of(device_).free_bytes(device_.ordinal); }
  bool idle(StreamState* stream) override { return Stream::of(stream).idle(); }
  std::unique_ptr<PoolMarker> mark(StreamState* stream) override {
    return std::make_unique<EventMarker>(stream);
  }

 private:
  Device device_;
  AlignedSource memory_;
  Allocator* owner_;
};

/// A device's pool and its memory.
struct DevicePool {
  DevicePool(Device device, std::shared_ptr<MemorySource> source, Allocator* owner)
      : memory(device, std::move(source), owner), pool(memory) {}

  PoolMemory memory;
  MemoryPool pool;
};

/// The allocator that gave a block; null if it was a default pool.
Allocator* allocator_of(const Chunk& chunk);

}  // namespace heddle::runtime
