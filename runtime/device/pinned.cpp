#include "runtime/device/pinned.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/fault.h"
#include "runtime/device/backend.h"
#include "runtime/device/per_device.h"

namespace heddle::runtime {

namespace {

struct FreeBlock {
  void* pointer;
  std::size_t bytes;
};

/// Never destroyed: blocks may be released at process exit.
struct PinnedPool {
  ir::Mutex mutex;
  std::vector<FreeBlock> blocks;
  std::map<const void*, std::weak_ptr<PinnedBlock>, std::greater<>> held;  ///< by start

  /// Null if there is none of that size.
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    for (std::size_t i = blocks.size(); i-- > 0;) {
      if (blocks[i].bytes != bytes) continue;
      void* const pointer = blocks[i].pointer;
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
      return pointer;
    }
    return nullptr;
  }
};

PinnedPool& pool_on(Device device) {
  static constinit PerDevice<PinnedPool> pools;
  return pools.of(device, [] { return new PinnedPool; });
}

constexpr std::size_t least_bytes = 512, most_bytes = SIZE_MAX / 4;

}  // namespace

PinnedBlock::~PinnedBlock() {
  PinnedPool& pool = pool_on(device_);
  const std::lock_guard lock(pool.mutex);
  pool.held.erase(pointer_);
  pool.blocks.push_back({pointer_, bytes_});
}

std::shared_ptr<PinnedBlock> allocate_pinned(std::size_t bytes, Device device) {
  const std::size_t rounded = bytes > most_bytes ? 0 : std::bit_ceil(std::max(bytes, least_bytes));
  const auto attempt = [&]() -> void* {
    if (rounded == 0 || fault::point(fault::Kind::allocation)) return nullptr;
    void* const kept = pool_on(device).take(rounded);
    return kept != nullptr ? kept : backend_of(device).reserve_pinned(device.ordinal, rounded);
  };
  void* pointer = attempt();
  if (pointer == nullptr && rounded != 0) {
    trim_pinned(device);
    pointer = attempt();
  }
  if (pointer == nullptr)
    throw OutOfMemory(fmt::format("the host cannot allocate {} bytes of pinned memory", bytes));
  std::shared_ptr<PinnedBlock> block(new PinnedBlock(pointer, rounded, device));
  PinnedPool& pool = pool_on(device);
  const std::lock_guard lock(pool.mutex);
  pool.held[pointer] = block;
  return block;
}

std::shared_ptr<PinnedBlock> pinned_block_at(const void* pointer, Device device) {
  PinnedPool& pool = pool_on(device);
  std::shared_ptr<PinnedBlock> block;  // must be released without the lock
  const std::lock_guard lock(pool.mutex);
  const auto found = pool.held.lower_bound(pointer);
  if (found == pool.held.end()) return nullptr;
  const auto* const start = static_cast<const std::byte*>(found->first);
  block = found->second.lock();
  const bool inside = block && static_cast<const std::byte*>(pointer) < start + block->bytes();
  return inside ? block : nullptr;
}

std::size_t free_pinned_blocks(Device device) {
  PinnedPool& pool = pool_on(device);
  const std::lock_guard lock(pool.mutex);
  return pool.blocks.size();
}

void trim_pinned(Device device) {
  std::vector<FreeBlock> blocks;
  {
    PinnedPool& pool = pool_on(device);
    const std::lock_guard lock(pool.mutex);
    blocks = std::exchange(pool.blocks, {});
  }
  for (const FreeBlock& block : blocks)
    backend_of(device).release_pinned(device.ordinal, block.pointer);
}

}  // namespace heddle::runtime
