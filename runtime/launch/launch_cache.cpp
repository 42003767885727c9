#include "runtime/launch/launch_cache.h"

namespace heddle::runtime {

bool LaunchCacheEntry::owns_schedule() const {
  if (schedule.use_count() != 1) return false;
  // What the schedule's former holders read precedes what its only holder writes.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

LaunchCache::Lease LaunchCache::find(const StreamState* stream,
                                     std::span<const ArgumentView> arguments) {
  for (std::size_t i = 0; i < capacity; ++i) {
    if (streams_[i].load(std::memory_order_acquire) != stream) continue;
    Place& place = places_[i];
    if (place.taken.exchange(true, std::memory_order_acquire)) continue;
    Lease lease(place.entry.get(), &place.taken);
    // Another thread may have stored another stream's entry here before this thread took the slot.
    if (streams_[i].load(std::memory_order_relaxed) != stream ||
        !lease->schedule->fits(arguments)) {
      continue;
    }
    const std::uint64_t now = added_.load(std::memory_order_relaxed);
    if (place.used.load(std::memory_order_relaxed) != now)
      place.used.store(now, std::memory_order_relaxed);
    return lease;
  }
  return {};
}

LaunchCache::Place* LaunchCache::take_oldest_place() {
  Place* oldest = nullptr;
  for (Place& place : places_) {
    if (oldest != nullptr && place.used.load() >= oldest->used.load()) continue;
    if (place.taken.exchange(true, std::memory_order_acquire)) continue;
    if (oldest != nullptr) oldest->taken.store(false, std::memory_order_release);
    oldest = &place;
  }
  return oldest;
}

LaunchCache::Lease LaunchCache::add(const StreamState* stream, std::shared_ptr<Schedule> schedule) {
  auto entry = std::make_unique<LaunchCacheEntry>(std::move(schedule));
  const std::lock_guard lock(adding_);
  Place* const place = take_oldest_place();
  if (place == nullptr) return Lease(std::move(entry));
  place->entry = std::move(entry);
  place->used.store(added_.fetch_add(1) + 1);
  stream_of(*place).store(stream, std::memory_order_release);
  return {place->entry.get(), &place->taken};
}

LaunchCache::Lease LaunchCache::take_oldest() {
  if (added_.load(std::memory_order_relaxed) < capacity) return {};
  const std::lock_guard lock(adding_);
  Place* const place = take_oldest_place();
  if (place == nullptr) return {};
  Lease lease(place->entry.get(), &place->taken);
  if (!place->entry || place->entry->graph || !place->entry->owns_schedule()) return {};
  stream_of(*place).store(nullptr, std::memory_order_release);
  return lease;
}

void LaunchCache::put_back(const Lease& taken, const StreamState* stream) {
  for (Place& place : places_) {
    if (&place.taken != taken.taken_) continue;
    place.entry->calls = 0;
    place.entry->constants = BufferRef();  // of other extents
    place.used.store(added_.fetch_add(1) + 1);
    stream_of(place).store(stream, std::memory_order_release);
  }
}

void LaunchCache::release_memory() {
  for (Place& place : places_) {
    if (place.taken.exchange(true, std::memory_order_acquire)) continue;
    if (place.entry && (place.entry->graph || place.entry->constants)) {
      place.entry->graph.reset();
      place.entry->constants = BufferRef();
      place.entry->calls = 0;
    }
    place.taken.store(false, std::memory_order_release);
  }
}

}  // namespace heddle::runtime
