// The fake driver's managed memory, and its pool of memory for each device. Managed memory takes
// space on a device once it is moved there. Memory that the pool has keeps its space until a trim.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "state.h"

using namespace fake;

namespace {

#ifndef HEDDLE_FAKE_OLD_DRIVER
/// CUmemLocation as the driver's manual has it.
struct Location {
  int type;  ///< 1: a device, 2: the host
  int number;
};

int device_in(Location location) {
  constexpr int unknown_device = -2;
  if (location.type == 2) return -1;
  return location.type == 1 && location.number < devices ? location.number : unknown_device;
}
#endif

/// Space that a device has left.
std::size_t left(const Context* context) {
  return capacity - std::min(capacity, context->used + context->pool_reserved);
}

/// Moves managed memory when the stream gets there.
int prefetch(std::uint64_t pointer, std::size_t bytes, int device, Stream* stream) {
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  const Block* const block = block_of(pointer, bytes);
  if (block == nullptr || !block->managed || device < -1 || device >= devices) return invalid_value;
  stream->work.emplace_back([=] {
    const auto found = state().blocks.find(pointer);
    if (found == state().blocks.end()) return;
    move_managed(found->second,
                 device < 0 ? nullptr : &state().contexts.at(static_cast<std::size_t>(device)));
  });
  return success;
}

int advise(std::uint64_t pointer, std::size_t bytes, int advice, int device) {
  constexpr int first_advice = 1, last_advice = 6;
  const Lock lock(state().mutex);
  const Block* const block = block_of(pointer, bytes);
  if (block == nullptr || !block->managed || device < -1 || device >= devices) return invalid_value;
  return advice < first_advice || advice > last_advice ? invalid_value : success;
}

}  // namespace

void fake::move_managed(Block& block, Context* to) {
  if (block.resident != nullptr) block.resident->used -= block.bytes;
  block.resident = to;
  if (to != nullptr) to->used += block.bytes;
}

extern "C" {

int cuMemAllocManaged(std::uint64_t* pointer, std::size_t bytes, unsigned flags) {
  if (const int error = enter("cuMemAllocManaged")) return error;
  if (const int error = context_error()) return error;
  if (flags != 1 || bytes == 0) return invalid_value;
  const Lock lock(state().mutex);
  void* const block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(block, 0xcd, bytes);
  *pointer = reinterpret_cast<std::uint64_t>(block);
  state().blocks[*pointer] = {.bytes = bytes, .context = current_context(), .managed = true};
  return success;
}
int cuMemPrefetchAsync(std::uint64_t pointer, std::size_t bytes, int device, Stream* stream) {
  if (const int error = enter("cuMemPrefetchAsync")) return error;
  return prefetch(pointer, bytes, device, stream);
}
#ifndef HEDDLE_FAKE_OLD_DRIVER  // since CUDA 12.2
int cuMemPrefetchAsync_v2(std::uint64_t pointer, std::size_t bytes, Location location,
                          unsigned flags, Stream* stream) {
  if (const int error = enter("cuMemPrefetchAsync_v2")) return error;
  return flags != 0 ? invalid_value : prefetch(pointer, bytes, device_in(location), stream);
}
#endif
int cuMemAdvise(std::uint64_t pointer, std::size_t bytes, int advice, int device) {
  if (const int error = enter("cuMemAdvise")) return error;
  return advise(pointer, bytes, advice, device);
}
#ifndef HEDDLE_FAKE_OLD_DRIVER
int cuMemAdvise_v2(std::uint64_t pointer, std::size_t bytes, int advice, Location location) {
  if (const int error = enter("cuMemAdvise_v2")) return error;
  return advise(pointer, bytes, advice, device_in(location));
}
#endif

/// The memory is there once the stream gets there; until then nothing may use it elsewhere.
int cuMemAllocAsync(std::uint64_t* pointer, std::size_t bytes, Stream* stream) {
  if (const int error = enter("cuMemAllocAsync")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  Context* const context = stream->context;
  const std::size_t wanted = context->pool_used + bytes;
  const std::size_t more = wanted - std::min(wanted, context->pool_reserved);
  if (bytes > capacity || more > left(context)) return out_of_memory;
  void* const block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(block, 0xcd, bytes);
  *pointer = reinterpret_cast<std::uint64_t>(block);
  context->pool_used += bytes;
  context->pool_reserved = std::max(context->pool_reserved, context->pool_used);
  stream->work.emplace_back([=, at = *pointer] {
    state().blocks[at] = {.bytes = bytes, .context = context, .of_pool = true};
  });
  return success;
}
int cuMemFreeAsync(std::uint64_t pointer, Stream* stream) {
  if (const int error = enter("cuMemFreeAsync")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  const Block* const block = block_of(pointer, 1);
  if (block == nullptr || !block->of_pool) return invalid_value;
  stream->work.emplace_back([=] {
    const auto found = state().blocks.find(pointer);
    found->second.context->pool_used -= found->second.bytes;
    state().blocks.erase(found);
    std::free(reinterpret_cast<void*>(pointer));
  });
  return success;
}
/// A device's pool is its context.
int cuDeviceGetMemPool(Context** pool, int device) {
  if (device < 0 || device >= devices) return invalid_device;
  return *pool = &state().contexts.at(static_cast<std::size_t>(device)), success;
}
int cuMemPoolTrimTo(Context* pool, std::size_t keep) {
  const Lock lock(state().mutex);
  pool->pool_reserved = std::max(pool->pool_used, std::min(pool->pool_reserved, keep));
  return success;
}
int cuMemPoolGetAttribute(Context* pool, int attribute, void* value) {
  constexpr int reserved_now = 5, used_now = 7;
  const Lock lock(state().mutex);
  if (attribute != reserved_now && attribute != used_now) return invalid_value;
  const std::size_t found = attribute == used_now ? pool->pool_used : pool->pool_reserved;
  return *static_cast<std::uint64_t*>(value) = found, success;
}
}
