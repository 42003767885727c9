#include "runtime/launch/launch_cache.h"

namespace heddle::runtime {

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

LaunchCache::Lease LaunchCache::add(const StreamState* stream,
                                    std::shared_ptr<const Schedule> schedule) {
  auto entry = std::make_unique<LaunchCacheEntry>(std::move(schedule));
  const std::lock_guard lock(adding_);
  // An empty slot has `used` = 0. A slot that another thread has taken is skipped.
  Place* oldest = nullptr;
  std::size_t index = 0;
  for (std::size_t i = 0; i < capacity; ++i) {
    Place& place = places_[i];
    if (oldest != nullptr && place.used.load() >= oldest->used.load()) continue;
    if (place.taken.exchange(true, std::memory_order_acquire)) continue;
    if (oldest != nullptr) oldest->taken.store(false, std::memory_order_release);
    oldest = &place;
    index = i;
  }
  if (oldest == nullptr) return Lease(std::move(entry));
  oldest->entry = std::move(entry);
  oldest->used.store(added_.fetch_add(1) + 1);
  streams_[index].store(stream, std::memory_order_release);
  return {oldest->entry.get(), &oldest->taken};
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
