// A CUDA driver that is a program of its own: one device of 256 MiB whose memory is the host's.
// Enqueued work runs as late as the interface allows: when somebody waits for it, or when a copy
// to pageable memory has to be done. What comes to rely on work that nobody ordered is found out.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "control.h"
#include "state.h"

namespace fake {

State& state() {
  static auto* const instance = new State;
  return *instance;
}

void run_all(Stream* stream) {
  while (!stream->work.empty()) {
    const std::function<void()> next = std::move(stream->work.front());
    stream->work.pop_front();
    next();
  }
}

namespace {

thread_local std::deque<Context*> current;

void run_until(const Mark& mark) {
  while (!mark.passed && !mark.stream->work.empty()) {
    const std::function<void()> next = std::move(mark.stream->work.front());
    mark.stream->work.pop_front();
    next();
  }
}

bool in_one_of(const std::map<std::uint64_t, std::size_t>& blocks, std::uint64_t pointer,
               std::size_t bytes) {
  const auto after = blocks.upper_bound(pointer);
  if (after == blocks.begin()) return false;
  const auto block = std::prev(after);
  return pointer + bytes <= block->first + block->second;
}

void* host(std::uint64_t pointer) { return reinterpret_cast<void*>(pointer); }

/// Counts of calls and the failure that is to come; they cost nothing until a test asks.
struct Watch {
  std::map<std::string, std::uint64_t> calls;
  std::string failing;
  int error = 0, after = -1;
};
std::atomic<bool> watching{false};
Watch& watch() {
  static auto* const instance = new Watch;
  return *instance;
}

}  // namespace

bool in_a_block(std::uint64_t pointer, std::size_t bytes) {
  return in_one_of(state().blocks, pointer, bytes);
}

bool have_context() { return !current.empty() && current.back() != nullptr; }

int enter(const char* function) {
  if (!watching.load(std::memory_order_relaxed)) return success;
  const Lock lock(state().mutex);
  ++watch().calls[function];
  if (watch().after < 0 || watch().failing != function || watch().after-- > 0) return success;
  return watch().error;
}

}  // namespace fake

using namespace fake;

extern "C" {

std::uint64_t fake_live_graphs();
std::uint64_t fake_live_executables();

const FakeControl* heddle_fake_control() {
  static const FakeControl control = {.calls =
                                          [](const char* function) {
                                            const Lock lock(state().mutex);
                                            return watch().calls[function];
                                          },
                                      .fail =
                                          [](const char* function, int error, int after) {
                                            const Lock lock(state().mutex);
                                            watch().failing = function;
                                            watch().error = error;
                                            watch().after = after;
                                          },
                                      .failed =
                                          [] {
                                            const Lock lock(state().mutex);
                                            return watch().after < 0;
                                          },
                                      .live_graphs = fake_live_graphs,
                                      .live_executables = fake_live_executables};
  watching = true;
  return &control;
}

int cuInit(unsigned) {
  const char* code = std::getenv("HEDDLE_FAKE_INIT");
  return code != nullptr ? std::atoi(code) : success;
}
int cuDriverGetVersion(int* version) { return *version = 13000, success; }
int cuGetErrorName(int error, const char** name) {
  *name = error == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_FAKE";
  return success;
}
int cuGetErrorString(int, const char** text) { return *text = "the fake driver says so", success; }

int cuDeviceGetCount(int* count) { return *count = 1, success; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, success; }
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return success;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = capacity, success; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values = {{1, 1024},    {12, 65536}, {16, 132}, {38, 62914560},
                                            {39, 2048},   {75, 9},     {76, 0},   {81, 233472},
                                            {97, 232448}, {120, 1},    {36, 0},   {37, 0}};
  const auto found = values.find(attribute);
  if (found == values.end()) return invalid_value;
  *value = found->second;
  return success;
}
int cuDeviceCanAccessPeer(int* can, int, int) { return *can = 0, success; }

int cuDevicePrimaryCtxRetain(Context** context, int) {
  return *context = &state().context, success;
}
int cuDevicePrimaryCtxRelease_v2(int) { return success; }
int cuCtxGetCurrent(Context** context) {
  *context = current.empty() ? nullptr : current.back();
  return success;
}
int cuCtxPushCurrent_v2(Context* context) { return current.push_back(context), success; }
int cuCtxPopCurrent_v2(Context** context) {
  if (current.empty()) return invalid_context;
  *context = current.back();
  current.pop_back();
  return success;
}
int cuCtxSynchronize() {
  if (!have_context()) return invalid_context;
  const Lock lock(state().mutex);
  for (const auto& [stream, alive] : state().streams) run_all(stream);
  return success;
}
int cuCtxEnablePeerAccess(Context*, unsigned) { return success; }

int cuStreamCreate(Stream** stream, unsigned) {
  if (!have_context()) return invalid_context;
  const Lock lock(state().mutex);
  *stream = new Stream;
  state().streams[*stream] = true;
  return success;
}
int cuStreamDestroy_v2(Stream* stream) {
  const Lock lock(state().mutex);
  run_all(stream);
  state().streams.erase(stream);
  delete stream;
  return success;
}
int cuStreamSynchronize(Stream* stream) {
  const Lock lock(state().mutex);
  if (stream->capture != nullptr || unsafe_now()) return capture_unsupported;
  run_all(stream);
  return success;
}
int cuStreamQuery(Stream* stream) {
  const Lock lock(state().mutex);
  if (stream->capture != nullptr || unsafe_now()) return capture_unsupported;
  return stream->work.empty() ? success : not_ready;
}
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  if (const int error = enter("cuStreamWaitEvent")) return error;
  const Lock lock(state().mutex);
  if ((stream->capture != nullptr) != event->mark->captured) return capture_isolation;
  if (stream->capture != nullptr) return success;
  stream->work.emplace_back([mark = event->mark] { run_until(*mark); });
  return success;
}
int cuStreamGetCtx(Stream*, Context** context) { return *context = &state().context, success; }

int cuEventCreate(Event** event, unsigned flags) {
  if (!have_context()) return invalid_context;
  *event = new Event;
  (*event)->timed = flags == 0;
  return success;
}
int cuEventDestroy_v2(Event*) { return success; }
int cuEventRecord(Event* event, Stream* stream) {
  if (const int error = enter("cuEventRecord")) return error;
  const Lock lock(state().mutex);
  event->mark = std::make_shared<Mark>(Mark{stream, false, stream->capture != nullptr});
  if (stream->capture != nullptr) return success;
  stream->work.emplace_back([mark = event->mark] {
    mark->passed = true;
    mark->when = state().microseconds;
  });
  return success;
}
int cuEventQuery(Event* event) {
  const Lock lock(state().mutex);
  if (event->mark->captured || unsafe_now()) return capture_unsupported;
  return event->mark->passed ? success : not_ready;
}
int cuEventSynchronize(Event* event) {
  const Lock lock(state().mutex);
  run_until(*event->mark);
  return success;
}
int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  const Lock lock(state().mutex);
  if (!start->timed || !end->timed) return invalid_value;
  if (!start->mark->passed || !end->mark->passed) return not_ready;
  constexpr double a_millisecond = 1000;
  *milliseconds = static_cast<float>((end->mark->when - start->mark->when) / a_millisecond);
  return success;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const Lock lock(state().mutex);
  *free = capacity - state().used;
  *total = capacity;
  return success;
}
int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
  if (const int error = enter("cuMemAlloc_v2")) return error;
  if (unsafe_now()) return capture_unsupported;
  if (!have_context()) return invalid_context;
  const Lock lock(state().mutex);
  if (bytes > capacity - state().used) return out_of_memory;
  void* const block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(block, 0xcd, bytes);
  *pointer = reinterpret_cast<std::uint64_t>(block);
  state().blocks[*pointer] = bytes;
  state().used += bytes;
  return success;
}
int cuMemFree_v2(std::uint64_t pointer) {
  if (!have_context()) return invalid_context;
  const Lock lock(state().mutex);
  const auto found = state().blocks.find(pointer);
  if (found == state().blocks.end()) return invalid_value;
  // As the real one, which waits for all that may use the memory.
  for (const auto& [stream, alive] : state().streams) run_all(stream);
  state().used -= found->second;
  state().blocks.erase(found);
  std::free(host(pointer));
  return success;
}
int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  const Lock lock(state().mutex);
  *pointer = std::malloc(bytes);
  state().pinned[reinterpret_cast<std::uint64_t>(*pointer)] = bytes;
  return success;
}
int cuMemFreeHost(void* pointer) {
  const Lock lock(state().mutex);
  for (const auto& [stream, alive] : state().streams) run_all(stream);
  state().pinned.erase(reinterpret_cast<std::uint64_t>(pointer));
  return std::free(pointer), success;
}

int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, Stream* stream) {
  const Lock lock(state().mutex);
  if (stream == nullptr || !in_a_block(to, bytes)) return invalid_value;
  if (in_one_of(state().pinned, reinterpret_cast<std::uint64_t>(from), bytes)) {
    stream->work.emplace_back([=] { std::memcpy(host(to), from, bytes); });
    return success;
  }
  // Pageable memory is read before the call returns.
  const std::string staged(static_cast<const char*>(from), bytes);
  stream->work.emplace_back([=] { std::memcpy(host(to), staged.data(), bytes); });
  return success;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, Stream* stream) {
  const Lock lock(state().mutex);
  if (stream == nullptr || !in_a_block(from, bytes)) return invalid_value;
  run_all(stream);
  std::memcpy(to, host(from), bytes);
  return success;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, Stream* stream) {
  const Lock lock(state().mutex);
  if (stream == nullptr || !in_a_block(to, bytes) || !in_a_block(from, bytes)) return invalid_value;
  stream->work.emplace_back([=] { std::memmove(host(to), host(from), bytes); });
  return success;
}
int cuMemcpyPeerAsync(std::uint64_t to, Context*, std::uint64_t from, Context*, std::size_t bytes,
                      Stream* stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t count, Stream* stream) {
  if (const int error = enter("cuMemsetD8Async")) return error;
  const Lock lock(state().mutex);
  if (stream == nullptr || !in_a_block(to, count)) return invalid_value;
  Node node;
  node.destination = to;
  node.value = value;
  node.bytes = count;
  return submit(stream, node);
}
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                           std::uint64_t pointer) {
  const Lock lock(state().mutex);
  const bool pinned = in_one_of(state().pinned, pointer, 1),
             known = pinned || in_a_block(pointer, 1);
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] != 2) return invalid_value;
    *static_cast<unsigned*>(values[i]) = !known ? 0 : pinned ? 1 : 2;
  }
  return success;
}

// What no test calls, and what Heddle asks to be there.
#define HEDDLE_FAKE(name) \
  int name() { return not_found; }
HEDDLE_FAKE(cuMemsetD32Async)
HEDDLE_FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor)
#undef HEDDLE_FAKE
}
