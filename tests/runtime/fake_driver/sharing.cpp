// What several processes, or several devices, use together: memory and events that other processes
// open, and access of one device to the other's memory. HEDDLE_FAKE_PEERS=1: the devices reach each
// other's memory.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "state.h"

namespace fake {

namespace {

/// What a handle holds: a file of a process, which both processes map.
struct Content {
  int process, file;
  std::uint64_t bytes, device;
};
struct Handle {
  char bytes[64];
};

Content content_of(const Handle& handle) {
  Content content;
  std::memcpy(&content, handle.bytes, sizeof content);
  return content;
}

void write(Handle* handle, const Content& content) {
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle->bytes, &content, sizeof content);
}

/// Maps what a handle of another process names. Null if that is gone.
void* map_other(const Content& content) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", content.process, content.file);
  const int file = open(path, O_RDWR);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, content.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Waits for another process, which runs its work when somebody there waits for it.
bool wait_until_passed(const SharedMarks& marks, std::uint64_t number) {
  constexpr int most = 20000;
  for (int i = 0; marks.passed.load() < number; ++i) {
    if (i == most) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

SharedPages make_shared_pages(std::size_t bytes) {
  const int file = memfd_create("fake gpu", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return {};
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? SharedPages{} : SharedPages{memory, file};
}

void run_until_passed(const Event& event) {
  if (!wait_until_passed(*event.shared, event.shared->recorded.load())) std::abort();
}

}  // namespace fake

using namespace fake;

extern "C" {

int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return *can = std::getenv("HEDDLE_FAKE_PEERS") != nullptr && device != peer ? 1 : 0, success;
}
int cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
  if (const int error = enter("cuCtxEnablePeerAccess")) return error;
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  Context* const own = current_context();
  if (flags != 0 || peer == own) return invalid_value;
  if (std::getenv("HEDDLE_FAKE_PEERS") == nullptr) return peer_unsupported;
  if (own->reaches_peer) return peer_already_enabled;
  return own->reaches_peer = true, success;
}
int cuCtxDisablePeerAccess(Context* peer) {
  if (const int error = enter("cuCtxDisablePeerAccess")) return error;
  const Lock lock(state().mutex);
  Context* const own = current_context();
  if (own == nullptr || peer == own) return invalid_context;
  if (!own->reaches_peer) return peer_not_enabled;
  return own->reaches_peer = false, success;
}

int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* bytes, std::uint64_t pointer) {
  const Lock lock(state().mutex);
  const auto after = state().blocks.upper_bound(pointer);
  if (block_of(pointer, 1) == nullptr) return invalid_value;
  const auto found = std::prev(after);
  *base = found->first;
  *bytes = found->second.bytes;
  return success;
}
int cuIpcGetMemHandle(Handle* handle, std::uint64_t pointer) {
  if (const int error = enter("cuIpcGetMemHandle")) return error;
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  const Block* const block = block_of(pointer, 1);
  if (block == nullptr || block->file < 0) return invalid_value;
  write(handle, {getpid(), block->file, block->bytes, number_of(block->context)});
  return success;
}
int cuIpcOpenMemHandle_v2(std::uint64_t* base, Handle handle, unsigned flags) {
  if (const int error = enter("cuIpcOpenMemHandle_v2")) return error;
  if (const int error = context_error()) return error;
  const Content content = content_of(handle);
  if (flags != 1 || content.process <= 0) return invalid_value;
  if (content.process == getpid() || content.device != number_of(current_context()))
    return invalid_context;
  const Lock lock(state().mutex);
  const std::string name(handle.bytes, sizeof handle.bytes);
  for (auto& [at, block] : state().blocks) {
    if (block.opened_as != name) continue;
    ++block.opened;
    return *base = at, success;
  }
  void* const memory = map_other(content);
  if (memory == nullptr) return invalid_value;
  *base = reinterpret_cast<std::uint64_t>(memory);
  state().blocks[*base] = {
      .bytes = content.bytes, .context = current_context(), .opened_as = name, .opened = 1};
  return success;
}
int cuIpcCloseMemHandle(std::uint64_t base) {
  if (const int error = enter("cuIpcCloseMemHandle")) return error;
  const Lock lock(state().mutex);
  const auto found = state().blocks.find(base);
  if (found == state().blocks.end() || found->second.opened == 0) return invalid_value;
  if (--found->second.opened > 0) return success;
  for (const auto& [stream, alive] : state().streams) run_all(stream);
  munmap(reinterpret_cast<void*>(base), found->second.bytes);
  state().blocks.erase(found);
  return success;
}

int cuIpcGetEventHandle(Handle* handle, Event* event) {
  if (const int error = enter("cuIpcGetEventHandle")) return error;
  if (event->shared == nullptr || event->file < 0) return invalid_handle;
  write(handle, {getpid(), event->file, sizeof(SharedMarks), number_of(event->context)});
  return success;
}
int cuIpcOpenEventHandle(Event** event, Handle handle) {
  if (const int error = enter("cuIpcOpenEventHandle")) return error;
  if (const int error = context_error()) return error;
  const Content content = content_of(handle);
  if (content.process <= 0 || content.bytes != sizeof(SharedMarks)) return invalid_value;
  if (content.process == getpid()) return invalid_context;
  void* const memory = map_other(content);
  if (memory == nullptr) return invalid_value;
  *event = new Event;
  (*event)->context = current_context();
  (*event)->shared = static_cast<SharedMarks*>(memory);
  return success;
}
}
