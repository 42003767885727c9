// The fake driver's memory: allocation, copies, and what is known of a pointer.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "state.h"

namespace fake {

namespace {

/// CUDA_MEMCPY2D as the driver's manual has it.
struct Copy2d {
  std::size_t from_x, from_y;
  unsigned from_kind;
  const void* from_host;
  std::uint64_t from;
  void* from_array;
  std::size_t from_pitch, to_x, to_y;
  unsigned to_kind;
  void* to_host;
  std::uint64_t to;
  void* to_array;
  std::size_t to_pitch, row_bytes, rows;
};

void* host(std::uint64_t pointer) { return reinterpret_cast<void*>(pointer); }

/// A copy that each launch makes anew.
int capture_copy(Stream* stream, void* to, const void* from, std::size_t bytes) {
  Node node;
  node.work = [=] { std::memcpy(to, from, bytes); };
  return submit(stream, node);
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  *free = capacity - current_context()->used - current_context()->pool_reserved;
  *total = capacity;
  return success;
}
int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
  if (const int error = enter("cuMemAlloc_v2")) return error;
  if (unsafe_now()) return capture_unsupported;
  if (const int error = context_error()) return error;
  Context* const context = current_context();
  const Lock lock(state().mutex);
  if (bytes > capacity - context->used - context->pool_reserved) return out_of_memory;
  // With HEDDLE_FAKE_IPC other processes can map it.
  const SharedPages shared =
      std::getenv("HEDDLE_FAKE_IPC") != nullptr ? make_shared_pages(bytes) : SharedPages{};
  void* const block =
      shared.file >= 0 ? shared.memory : std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(block, 0xcd, bytes);
  *pointer = reinterpret_cast<std::uint64_t>(block);
  state().blocks[*pointer] = {.bytes = bytes, .context = context, .file = shared.file};
  context->used += bytes;
  return success;
}
int cuMemFree_v2(std::uint64_t pointer) {
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  const auto found = state().blocks.find(pointer);
  if (found == state().blocks.end()) return invalid_value;
  // As the real one, which waits for all that may use the memory.
  for (const auto& [stream, alive] : state().streams) run_all(stream);
  if (found->second.of_pool) return invalid_value;  // the real one accepts it
  if (found->second.opened > 0) return invalid_value;
  if (found->second.managed) {
    move_managed(found->second, nullptr);
  } else {
    found->second.context->used -= found->second.bytes;
  }
  const Block block = found->second;
  state().blocks.erase(found);
  if (block.file < 0) return std::free(host(pointer)), success;
  munmap(host(pointer), block.bytes);
  close(block.file);
  return success;
}
int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  if (const int error = enter("cuMemHostAlloc")) return error;
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  *pointer = std::malloc(bytes);
  state().blocks[reinterpret_cast<std::uint64_t>(*pointer)] = {.bytes = bytes};
  return success;
}
int cuMemFreeHost(void* pointer) {
  const Lock lock(state().mutex);
  for (const auto& [stream, alive] : state().streams) run_all(stream);
  state().blocks.erase(reinterpret_cast<std::uint64_t>(pointer));
  return std::free(pointer), success;
}

int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, Stream* stream) {
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  if (!reaches(stream->context, to, bytes)) return invalid_value;
  if (stream->capture != nullptr) return capture_copy(stream, host(to), from, bytes);
  if (block_of(reinterpret_cast<std::uint64_t>(from), bytes) != nullptr) {
    stream->work.emplace_back([=] { std::memcpy(host(to), from, bytes); });
    return success;
  }
  // Pageable memory is read before the call returns.
  const std::string staged(static_cast<const char*>(from), bytes);
  stream->work.emplace_back([=] { std::memcpy(host(to), staged.data(), bytes); });
  return success;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, Stream* stream) {
  if (const int error = enter("cuMemcpyDtoHAsync_v2")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  if (!reaches(stream->context, from, bytes)) return invalid_value;
  if (stream->capture != nullptr) return capture_copy(stream, to, host(from), bytes);
  if (const int error = run_all(stream)) return error;
  std::memcpy(to, host(from), bytes);
  return success;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, Stream* stream) {
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  if (!reaches(stream->context, to, bytes) || !reaches(stream->context, from, bytes))
    return invalid_value;
  Node node;
  node.work = [=] { std::memmove(host(to), host(from), bytes); };
  return submit(stream, node);
}
/// Copies rows within device memory.
int cuMemcpy2DAsync_v2(const Copy2d* copy, Stream* stream) {
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  const Copy2d c = *copy;
  const bool on_device = c.from_kind == 2 && c.to_kind == 2;
  if (!on_device || c.row_bytes > c.from_pitch || c.row_bytes > c.to_pitch || c.rows == 0)
    return invalid_value;
  if (!reaches(stream->context, c.to, (c.rows - 1) * c.to_pitch + c.row_bytes) ||
      !reaches(stream->context, c.from, (c.rows - 1) * c.from_pitch + c.row_bytes))
    return invalid_value;
  stream->work.emplace_back([=] {
    for (std::size_t row = 0; row < c.rows; ++row)
      std::memmove(host(c.to + row * c.to_pitch), host(c.from + row * c.from_pitch), c.row_bytes);
  });
  return success;
}
int cuMemcpyPeerAsync(std::uint64_t to, Context* to_context, std::uint64_t from,
                      Context* from_context, std::size_t bytes, Stream* stream) {
  if (const int error = enter("cuMemcpyPeerAsync")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  if (!reaches(to_context, to, bytes) || !reaches(from_context, from, bytes)) return invalid_value;
  stream->work.emplace_back([=] { std::memmove(host(to), host(from), bytes); });
  return success;
}
int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t count, Stream* stream) {
  if (const int error = enter("cuMemsetD8Async")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  if (!reaches(stream->context, to, count)) return invalid_value;
  Node node;
  node.destination = to;
  node.value = value;
  node.bytes = count;
  return submit(stream, node);
}
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                           std::uint64_t pointer) {
  constexpr int memory_type = 2, device_ordinal = 9, unknown_device = -2;
  const Lock lock(state().mutex);
  const Block* const block = block_of(pointer, 1);
  const bool pinned = block != nullptr && block->context == nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == memory_type) {
      *static_cast<unsigned*>(values[i]) = block == nullptr ? 0 : pinned ? 1 : 2;
    } else if (attributes[i] == device_ordinal) {
      *static_cast<int*>(values[i]) = block == nullptr ? unknown_device
                                      : pinned         ? 0
                                               : static_cast<int>(number_of(block->context));
    } else {
      return invalid_value;
    }
  }
  return success;
}
}
