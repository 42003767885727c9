// A CUDA driver that is a program of its own: one device of 256 MiB whose memory is the host's.
// Enqueued work runs as late as the interface allows: when somebody waits for it, or when a copy
// to pageable memory has to be done. What comes to rely on work that nobody ordered is found out.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace {

enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_image = 200,
  invalid_context = 201,
  not_found = 500,
  not_ready = 600
};

struct Context {};

struct Stream {
  std::deque<std::function<void()>> work;
};

/// One recording of an event: what waits for it holds on to it when the event is recorded anew.
struct Mark {
  Stream* stream = nullptr;
  bool passed = true;
};

struct Event {
  std::shared_ptr<Mark> mark = std::make_shared<Mark>();
};

constexpr std::size_t capacity = std::size_t{256} << 20;

struct State {
  std::recursive_mutex mutex;
  Context context;
  std::map<std::uint64_t, std::size_t> blocks;
  std::map<std::uint64_t, std::size_t> pinned;
  std::size_t used = 0;
  std::map<Stream*, bool> streams;
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

thread_local std::deque<Context*> current;

using Lock = std::lock_guard<std::recursive_mutex>;

void run_all(Stream* stream) {
  while (!stream->work.empty()) {
    const std::function<void()> next = std::move(stream->work.front());
    stream->work.pop_front();
    next();
  }
}

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

/// Work needs the device's context, or a stream of it; copies and fills check their range.
bool in_a_block(std::uint64_t pointer, std::size_t bytes) {
  return in_one_of(state().blocks, pointer, bytes);
}

void* host(std::uint64_t pointer) { return reinterpret_cast<void*>(pointer); }

bool have_context() { return !current.empty() && current.back() != nullptr; }

}  // namespace

extern "C" {

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
  run_all(stream);
  return success;
}
int cuStreamQuery(Stream* stream) {
  const Lock lock(state().mutex);
  return stream->work.empty() ? success : not_ready;
}
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  const Lock lock(state().mutex);
  stream->work.emplace_back([mark = event->mark] { run_until(*mark); });
  return success;
}
int cuStreamGetCtx(Stream*, Context** context) { return *context = &state().context, success; }
int cuStreamIsCapturing(Stream*, int* status) { return *status = 0, success; }

int cuEventCreate(Event** event, unsigned) {
  if (!have_context()) return invalid_context;
  return *event = new Event, success;
}
int cuEventDestroy_v2(Event*) { return success; }
int cuEventRecord(Event* event, Stream* stream) {
  const Lock lock(state().mutex);
  event->mark = std::make_shared<Mark>(Mark{stream, false});
  stream->work.emplace_back([mark = event->mark] { mark->passed = true; });
  return success;
}
int cuEventQuery(Event* event) {
  const Lock lock(state().mutex);
  return event->mark->passed ? success : not_ready;
}
int cuEventSynchronize(Event* event) {
  const Lock lock(state().mutex);
  run_until(*event->mark);
  return success;
}
int cuEventElapsedTime(float* milliseconds, Event*, Event*) { return *milliseconds = 1, success; }

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const Lock lock(state().mutex);
  *free = capacity - state().used;
  *total = capacity;
  return success;
}
int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
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
  const Lock lock(state().mutex);
  if (stream == nullptr || !in_a_block(to, count)) return invalid_value;
  stream->work.emplace_back([=] { std::memset(host(to), value, count); });
  return success;
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

int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**) { return invalid_image; }

// What no test of memory and streams calls, and what Heddle asks to be there.
#define HEDDLE_FAKE(name) \
  int name() { return not_found; }
HEDDLE_FAKE(cuStreamBeginCapture_v2)
HEDDLE_FAKE(cuStreamEndCapture)
HEDDLE_FAKE(cuThreadExchangeStreamCaptureMode)
HEDDLE_FAKE(cuMemsetD32Async)
HEDDLE_FAKE(cuModuleUnload)
HEDDLE_FAKE(cuModuleGetFunction)
HEDDLE_FAKE(cuFuncGetAttribute)
HEDDLE_FAKE(cuFuncSetAttribute)
HEDDLE_FAKE(cuLaunchKernel)
HEDDLE_FAKE(cuLaunchKernelEx)
HEDDLE_FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor)
HEDDLE_FAKE(cuGraphCreate)
HEDDLE_FAKE(cuGraphDestroy)
HEDDLE_FAKE(cuGraphGetNodes)
HEDDLE_FAKE(cuGraphNodeGetType)
HEDDLE_FAKE(cuGraphInstantiateWithFlags)
HEDDLE_FAKE(cuGraphUpload)
HEDDLE_FAKE(cuGraphLaunch)
HEDDLE_FAKE(cuGraphExecDestroy)
#undef HEDDLE_FAKE
}
