#include "runtime/device/device_pool.h"

#include <cstdint>

#include "runtime/device/memory_hooks.h"
#include "runtime/device/pool_arena.h"

namespace heddle::runtime {

namespace {

constinit thread_local const Reservation* current = nullptr;

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % MemoryPool::unit == 0;
}

void* aligned(void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t up = (address + MemoryPool::unit - 1) / MemoryPool::unit * MemoryPool::unit;
  return static_cast<char*>(pointer) + (up - address);
}

}  // namespace

bool EventMarker::mark() {
  const std::lock_guard lock(mutex_);
  if (event_) return true;
  const Stream stream = Stream::of(stream_);
  if (!stream.capturing()) event_.emplace(stream);
  return event_.has_value();
}

ReservationScope::ReservationScope(const Reservation& reservation)
    : before_(std::exchange(current, &reservation)) {}

ReservationScope::~ReservationScope() { current = before_; }

void* AlignedSource::reserve(std::size_t bytes) {
  // Without a reservation, there are neither hooks nor another source.
  if (current == nullptr) return backend_of(device_).reserve(device_.ordinal, bytes);
  const Reservation& asked = *current;
  if (!has_memory_hooks()) return reserve_quietly(bytes, asked.stream);
  MemoryEvent event{.device = device_,
                    .requested = bytes,
                    .bytes = bytes,
                    .label = asked.request.label,
                    .line = asked.request.line};
  call_memory_hooks(MemoryStep::before_reserve, event);
  void* pointer = nullptr;
  try {
    pointer = reserve_quietly(bytes, asked.stream);
    event.pointer = pointer;
    call_memory_hooks(MemoryStep::after_reserve, event);
  } catch (...) {
    if (pointer != nullptr) release(pointer, bytes);
    throw;
  }
  return pointer;
}

void* AlignedSource::reserve_quietly(std::size_t bytes, const Stream& stream) {
  if (!source_) return backend_of(device_).reserve(device_.ordinal, bytes);
  return reserve_from_source(bytes, stream);
}

void* AlignedSource::reserve_from_source(std::size_t bytes, const Stream& stream) {
  const ir::ForkPause pause;
  const AllocatorScope own(nullptr);  // for arrays that the source makes itself
  void* const pointer = source_->reserve(device_, bytes, stream);
  if (pointer == nullptr || is_aligned(pointer)) return pointer;
  source_->release(device_, pointer, bytes);
  const std::size_t more = bytes + MemoryPool::unit;
  void* const wide = source_->reserve(device_, more, stream);
  if (wide == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  moved_[aligned(wide)] = {wide, more};
  return aligned(wide);
}

void AlignedSource::release(void* pointer, std::size_t bytes) noexcept {
  if (!source_) return backend_of(device_).release(device_.ordinal, pointer);
  Original original{pointer, bytes};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = moved_.find(pointer); found != moved_.end()) {
      original = found->second;
      moved_.erase(found);
    }
  }
  source_->release(device_, original.pointer, original.bytes);
}

}  // namespace heddle::runtime
