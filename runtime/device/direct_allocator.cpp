#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/device/allocator.h"
#include "runtime/device/device_pool.h"
#include "runtime/device/memory.h"
#include "runtime/device/pool_arena.h"

// The allocator without a pool, and which allocator a block is of.

namespace heddle::runtime {

namespace {

/// A block of its own. It belongs to no segment.
struct DirectChunk : Chunk {
  std::shared_ptr<Allocator> owner;
  StreamState* stream = nullptr;  ///< the stream of its holder
};

class DirectAllocator final : public Allocator {
 public:
  explicit DirectAllocator(std::shared_ptr<MemorySource> source) : source_(std::move(source)) {}
  static std::shared_ptr<DirectAllocator> make(std::shared_ptr<MemorySource> source);

  ~DirectAllocator() override {
    for (auto& [key, part] : parts_) collect(*part, true);
  }

  Chunk* allocate(const BlockRequest& request, const Stream& stream) override;
  Chunk* borrow(const BlockRequest&, const Stream&) override { return nullptr; }
  void free(Chunk* chunk, Device device, std::span<StreamState* const> users) noexcept override;
  void describe(Chunk* chunk, const Label& label, ir::Location line) override {
    const std::lock_guard lock(mutex_);
    Arena::describe(*chunk, label, line);
  }
  std::size_t trim(Device device, bool wait) override { return collect(part_of(device), wait); }
  MemoryStatistics statistics(Device device) const override {
    Part& part = const_cast<DirectAllocator*>(this)->part_of(device);
    const std::lock_guard lock(mutex_);
    return part.numbers;
  }
  MemoryPool* pool(Device) override { return nullptr; }

 private:
  /// The memory of a device.
  struct Part {
    Part(Device on, std::shared_ptr<MemorySource> source)
        : device(on), memory(on, std::move(source)) {}
    Device device;
    AlignedSource memory;
    std::list<Pending> pending;
    MemoryStatistics numbers;
  };
  using Key = std::pair<DeviceKind, int>;

  Part& part_of(Device device) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Part>& made = parts_[{device.kind, device.ordinal}];
    if (!made) made = std::make_unique<Part>(device, source_);
    return *made;
  }
  std::size_t collect(Part& part, bool wait) noexcept;
  /// The same for all allocators of this class: one that is not called any more has blocks, too.
  static void collect_all(bool wait);
  void release(Part& part, Chunk* chunk) noexcept;

  std::shared_ptr<MemorySource> source_;
  mutable ir::Mutex mutex_;  ///< guards the parts, but for the making of calls of a source
  std::map<Key, std::unique_ptr<Part>> parts_;
};

struct All {
  ir::Mutex mutex;
  std::vector<std::weak_ptr<DirectAllocator>> allocators;
};
All& all() {
  static auto* const instance = new All;
  return *instance;
}

std::shared_ptr<DirectAllocator> DirectAllocator::make(std::shared_ptr<MemorySource> source) {
  static const int reclaimer = add_reclaimer([](Device, std::size_t) { collect_all(true); });
  static_cast<void>(reclaimer);
  auto made = std::make_shared<DirectAllocator>(std::move(source));
  const std::lock_guard lock(all().mutex);
  std::erase_if(all().allocators, [](const auto& each) { return each.expired(); });
  all().allocators.push_back(made);
  return made;
}

void DirectAllocator::collect_all(bool wait) {
  std::vector<std::shared_ptr<DirectAllocator>> live;
  {
    const std::lock_guard lock(all().mutex);
    for (const auto& each : all().allocators)
      if (auto allocator = each.lock()) live.push_back(std::move(allocator));
  }
  for (const auto& allocator : live) {
    std::vector<Part*> parts;  // never removed
    {
      const std::lock_guard lock(allocator->mutex_);
      for (const auto& [key, part] : allocator->parts_) parts.push_back(part.get());
    }
    for (Part* const part : parts) allocator->collect(*part, wait);
  }
}

Chunk* DirectAllocator::allocate(const BlockRequest& request, const Stream& stream) {
  constexpr std::size_t most_bytes = SIZE_MAX / 2;
  if (request.bytes > most_bytes) return nullptr;
  Part& part = part_of(stream.device());
  collect_all(false);
  const std::size_t bytes =
      (request.bytes + MemoryPool::unit - 1) / MemoryPool::unit * MemoryPool::unit;
  void* const pointer = part.memory.reserve(bytes);
  if (pointer == nullptr) return nullptr;
  auto* const chunk = new DirectChunk;
  chunk->pointer = static_cast<char*>(pointer);
  chunk->bytes = bytes;
  chunk->held = true;
  chunk->owner = shared_from_this();
  chunk->stream = stream.state();
  const std::lock_guard lock(mutex_);
  Arena::describe(*chunk, request.label, request.line);
  MemoryStatistics& numbers = part.numbers;
  ++numbers.blocks;
  ++numbers.allocations;
  ++numbers.reservations;
  numbers.in_use += bytes;
  numbers.reserved += bytes;
  numbers.peak_in_use = std::max(numbers.peak_in_use, numbers.in_use);
  numbers.peak_reserved = std::max(numbers.peak_reserved, numbers.reserved);
  return chunk;
}

void DirectAllocator::free(Chunk* chunk, Device device,
                           std::span<StreamState* const> users) noexcept {
  auto& own = *static_cast<DirectChunk*>(chunk);
  const std::shared_ptr<Allocator> self = std::move(own.owner);
  Part& part = part_of(device);
  try {
    Pending pending{chunk, {}};
    for (StreamState* const user : users)
      pending.markers.push_back(std::make_shared<EventMarker>(user));
    if (capabilities_of(device).asynchronous)
      pending.markers.push_back(std::make_shared<EventMarker>(own.stream));
    const std::lock_guard lock(mutex_);
    --part.numbers.blocks;
    part.numbers.in_use -= chunk->bytes;
    part.pending.push_back(std::move(pending));
  } catch (const std::exception& failure) {
    // The device failed for good, so the block is never released.
    log().error("a block of {} bytes cannot be released: {}", chunk->bytes, failure.what());
    return;
  }
  collect(part, false);
}

/// Releases the freed blocks that no work uses any more. Returns their bytes.
std::size_t DirectAllocator::collect(Part& part, bool wait) noexcept {
  if (backend_of(part.device).unusable()) return 0;
  std::list<Pending> done;
  try {
    if (wait) {
      std::vector<std::shared_ptr<PoolMarker>> markers;
      {
        const std::lock_guard lock(mutex_);
        for (const Pending& each : part.pending)
          markers.insert(markers.end(), each.markers.begin(), each.markers.end());
      }
      for (const auto& marker : markers) marker->wait();
    }
    const std::lock_guard lock(mutex_);
    for (auto it = part.pending.begin(); it != part.pending.end();) {
      const auto next = std::next(it);
      if (std::ranges::all_of(it->markers, [](const auto& marker) { return marker->passed(); }))
        done.splice(done.end(), part.pending, it);
      it = next;
    }
  } catch (const std::exception& failure) {
    log().debug("freed blocks are not released: {}", failure.what());
  }
  std::size_t bytes = 0;
  for (const Pending& each : done) {
    bytes += each.chunk->bytes;
    release(part, each.chunk);
  }
  return bytes;
}

void DirectAllocator::release(Part& part, Chunk* chunk) noexcept {
  part.memory.release(chunk->pointer, chunk->bytes);
  {
    const std::lock_guard lock(mutex_);
    part.numbers.reserved -= chunk->bytes;
  }
  delete static_cast<DirectChunk*>(chunk);
}

}  // namespace

std::shared_ptr<Allocator> Allocator::direct(std::shared_ptr<MemorySource> source) {
  return DirectAllocator::make(std::move(source));
}

Allocator* allocator_of(const Chunk& chunk) {
  if (chunk.segment == nullptr) return static_cast<const DirectChunk&>(chunk).owner.get();
  return static_cast<const PoolMemory&>(*chunk.segment->arena->backend).owner();
}

}  // namespace heddle::runtime
