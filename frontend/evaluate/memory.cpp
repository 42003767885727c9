#include "heddle/memory.h"

#include "runtime/device/device.h"
#include "runtime/device/memory.h"
#include "runtime/device/pinned.h"
#include "runtime/launch/capture.h"

namespace heddle {

namespace {

runtime::Device device_named(const std::string& name) {
  const runtime::Device device = runtime::parse_device(name);
  runtime::require_device(device);
  return device;
}

runtime::MemoryPool& pool_named(const std::string& device) {
  return runtime::pool_of(runtime::parse_device(device));
}

}  // namespace

MemoryStatistics memory_statistics(const std::string& of) {
  const runtime::MemoryPool& pool = pool_named(of);
  const runtime::MemoryStatistics numbers = pool.statistics();
  return {.in_use = numbers.in_use,
          .reserved = numbers.reserved,
          .peak_in_use = numbers.peak_in_use,
          .peak_reserved = numbers.peak_reserved,
          .largest_free = pool.largest_free(),
          .limit = pool.limit(),
          .blocks = numbers.blocks,
          .free_blocks = pool.free_blocks(),
          .allocations = numbers.allocations,
          .reservations = numbers.reservations};
}

void reset_memory_peak(const std::string& of) { pool_named(of).reset_peak(); }

std::string describe_memory(std::size_t most_blocks, const std::string& of) {
  return pool_named(of).describe_largest(most_blocks);
}

std::size_t set_memory_limit(std::size_t bytes, const std::string& of) {
  return pool_named(of).set_limit(bytes);
}

std::size_t trim_memory(const std::string& of) {
  runtime::release_destroyed_graphs();
  return pool_named(of).trim(true);
}

PinnedMemory::PinnedMemory(std::size_t bytes, const std::string& of)
    : block_(runtime::allocate_pinned(bytes, device_named(of))), bytes_(bytes) {}

void* PinnedMemory::data() const { return block_->pointer(); }

std::size_t free_pinned_blocks(const std::string& of) {
  return runtime::free_pinned_blocks(device_named(of));
}

void trim_pinned_memory(const std::string& of) { runtime::trim_pinned(device_named(of)); }

}  // namespace heddle
