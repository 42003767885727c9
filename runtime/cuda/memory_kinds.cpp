#include "runtime/cuda/memory_kinds.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/stream.h"

namespace heddle::runtime::cuda {

namespace {

DevicePointer address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

/// Limits the managed memory of a GPU to what it had free. Managed memory counts as free for the
/// driver until the GPU touches it, so what was given is subtracted here.
struct ManagedBytes {
  std::size_t given = 0;
  std::size_t available = 0;  ///< the most that was free at a call
};

/// What is kept for the GPUs, by number.
struct Kept {
  ir::Mutex mutex;
  std::map<int, ManagedBytes> managed;
  std::map<int, StreamHandle> streams;
};
Kept& kept() {
  static auto* const instance = new Kept;
  return *instance;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  driver().mem_get_info(&free, &total);
  return free;
}

/// Counts managed memory before it is allocated. False if the GPU has not that much.
bool claim_managed(int ordinal, std::size_t bytes) {
  const std::size_t free = free_bytes();
  const std::lock_guard lock(kept().mutex);
  ManagedBytes& own = kept().managed[ordinal];
  own.available = own.given == 0 ? free : std::max(own.available, free);
  if (bytes > free || bytes > own.available - std::min(own.available, own.given)) return false;
  own.given += bytes;
  return true;
}

void return_managed(int ordinal, std::size_t bytes) {
  const std::lock_guard lock(kept().mutex);
  kept().managed[ordinal].given -= bytes;
}

DeviceHandle device_of(int ordinal) {
  DeviceHandle device = 0;
  driver().device_get(&device, ordinal);
  return device;
}

constexpr DeviceHandle the_host = -1;  // CU_DEVICE_CPU
constexpr int host_location = 2;

MemoryLocation location_of(Device device) {
  if (device.kind == DeviceKind::cuda) return {.ordinal = device_of(device.ordinal)};
  return {.type = host_location};
}

DeviceHandle handle_of(Device device) {
  return device.kind == DeviceKind::cuda ? device_of(device.ordinal) : the_host;
}

/// The stream of a GPU on which memory of the driver's pool is allocated and freed. Nothing else
/// runs on it. The GPU is current.
StreamHandle pool_stream(int ordinal) {
  const std::lock_guard lock(kept().mutex);
  StreamHandle& stream = kept().streams[ordinal];
  if (stream == nullptr) driver().stream_create(&stream, stream_non_blocking, 0);
  return stream;
}

MemoryPoolHandle pool_of(int ordinal) {
  MemoryPoolHandle pool = nullptr;
  driver().device_get_mem_pool(&pool, device_of(ordinal));
  return pool;
}

template <class Release>
void release_quietly(int ordinal, const Release& release) noexcept {
  if (unusable()) return;
  try {
    const ContextScope context(ordinal);
    release();
  } catch (const Error& failure) {
    // The loss of a device is reported to the calls that use it, so it is not logged here.
    if (describe_loss(ordinal).empty()) log().error("{}", failure.what());
  }
}

}  // namespace

void* reserve_managed(int ordinal, std::size_t bytes) {
  const ContextScope context(ordinal);
  if (!claim_managed(ordinal, bytes)) return nullptr;
  DevicePointer pointer = 0;
  const Result result = driver().mem_alloc_managed.attempt(&pointer, bytes, mem_attach_global);
  if (result == Result::success) return reinterpret_cast<void*>(pointer);
  return_managed(ordinal, bytes);
  if (result == Result::out_of_memory) return nullptr;
  check(result, "cuMemAllocManaged");
  return nullptr;
}

void release_managed(int ordinal, void* pointer, std::size_t bytes) noexcept {
  release_quietly(ordinal, [&] {
    return_managed(ordinal, bytes);
    driver().mem_free(address(pointer));
  });
}

void prefetch(const void* pointer, std::size_t bytes, Device to, const Stream& stream) {
  const ContextScope context(stream.device().ordinal);
  const Driver& table = driver();
  if (table.mem_prefetch_async_to) {
    table.mem_prefetch_async_to(address(pointer), bytes, location_of(to), 0, stream.handle());
  } else {
    table.mem_prefetch_async(address(pointer), bytes, handle_of(to), stream.handle());
  }
}

void advise(int ordinal, const void* pointer, std::size_t bytes, int advice, Device on) {
  const ContextScope context(ordinal);
  const Driver& table = driver();
  if (table.mem_advise_on) {
    table.mem_advise_on(address(pointer), bytes, advice, location_of(on));
  } else {
    table.mem_advise(address(pointer), bytes, advice, handle_of(on));
  }
}

void* reserve_ordered(int ordinal, std::size_t bytes) {
  const ContextScope context(ordinal);
  const StreamHandle stream = pool_stream(ordinal);
  DevicePointer pointer = 0;
  const Result result = driver().mem_alloc_async.attempt(&pointer, bytes, stream);
  if (result == Result::out_of_memory) return nullptr;
  check(result, "cuMemAllocAsync");
  // The memory is there for other streams once this stream got there.
  driver().stream_synchronize(stream);
  return reinterpret_cast<void*>(pointer);
}

void release_ordered(int ordinal, void* pointer) noexcept {
  release_quietly(ordinal,
                  [&] { driver().mem_free_async(address(pointer), pool_stream(ordinal)); });
}

OrderedPool ordered_pool(int ordinal) {
  const ContextScope context(ordinal);
  const MemoryPoolHandle pool = pool_of(ordinal);
  std::uint64_t used = 0, reserved = 0;
  driver().mem_pool_get_attribute(pool, MemoryPoolAttribute::used_current, &used);
  driver().mem_pool_get_attribute(pool, MemoryPoolAttribute::reserved_current, &reserved);
  return {static_cast<std::size_t>(used), static_cast<std::size_t>(reserved)};
}

void trim_ordered(int ordinal, std::size_t keep) {
  const ContextScope context(ordinal);
  driver().stream_synchronize(pool_stream(ordinal));
  driver().mem_pool_trim_to(pool_of(ordinal), keep);
}

}  // namespace heddle::runtime::cuda
