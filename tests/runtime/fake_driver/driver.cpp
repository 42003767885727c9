// A CUDA driver that is a program of its own: two devices of 256 MiB whose memory is the host's,
// and of which neither reaches the other's. Enqueued work runs as late as the interface allows:
// when somebody waits for it, or when a copy to pageable memory has to be done. What comes to rely
// on work that nobody ordered is found out.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "control.h"
#include "state.h"

namespace fake {

State& state() {
  static auto* const instance = new State;
  return *instance;
}

namespace {

thread_local std::deque<Context*> current;

/// What a lost context held is never done.
template <class Done>
void run(Stream* stream, const Done& done) {
  while (!done() && !stream->work.empty()) {
    if (stream->context->lost != success) return stream->work.clear();
    const std::function<void()> next = std::move(stream->work.front());
    stream->work.pop_front();
    next();
  }
}

int run_until(const Mark& mark) {
  if (mark.stream == nullptr) return success;
  run(mark.stream, [&] { return mark.passed; });
  return mark.passed ? success : mark.stream->context->lost;
}

}  // namespace

int run_all(Stream* stream) {
  run(stream, [] { return false; });
  return stream->context->lost;
}

const Block* block_of(std::uint64_t pointer, std::size_t bytes) {
  const Blocks& blocks = state().blocks;
  const auto after = blocks.upper_bound(pointer);
  if (after == blocks.begin()) return nullptr;
  const auto block = std::prev(after);
  return pointer + bytes <= block->first + block->second.bytes ? &block->second : nullptr;
}

bool reaches(const Context* context, std::uint64_t pointer, std::size_t bytes) {
  const Block* const block = block_of(pointer, bytes);
  return block != nullptr &&
         (block->context == nullptr || block->managed || block->context == context);
}

Context* current_context() { return current.empty() ? nullptr : current.back(); }

int context_error() {
  const Context* const context = current_context();
  return context == nullptr ? invalid_context : context->lost;
}

int stream_error(const Stream* stream) {
  if (stream == nullptr || current_context() == nullptr) return invalid_context;
  return stream->context == current_context() ? stream->context->lost : invalid_handle;
}

bool is_sticky(int error) { return error == illegal_address || error == launch_failed; }

std::size_t number_of(const Context* context) {
  return static_cast<std::size_t>(context - state().contexts.data());
}

namespace {

Stream* default_stream(std::array<Stream*, devices>& streams) {
  Context* const context = current_context();
  if (context == nullptr) return nullptr;
  const Lock lock(state().mutex);
  Stream*& stream = streams[number_of(context)];
  if (stream == nullptr) {
    stream = new Stream;
    stream->context = context;
    state().streams[stream] = true;
  }
  return stream;
}

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

Stream* resolve(Stream* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number > 2) return handle;
  return default_stream(number == 2 ? state().per_thread : state().legacy);
}

int enter(const char* function) {
  if (!watching.load(std::memory_order_relaxed)) return success;
  const Lock lock(state().mutex);
  ++watch().calls[function];
  if (watch().after < 0 || watch().failing != function || watch().after-- > 0) return success;
  const int error = watch().error;
  if (is_sticky(error) && current_context() != nullptr) current_context()->lost = error;
  return error;
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
  *name = error == out_of_memory     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                     : "CUDA_ERROR_OF_FAKE";
  return success;
}
int cuGetErrorString(int, const char** text) { return *text = "the fake driver says so", success; }

int cuDeviceGetCount(int* count) { return *count = devices, success; }
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= devices) return invalid_device;
  return *device = ordinal, success;
}
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
/// "0000:0N:00.0"
int cuDeviceGetPCIBusId(char* id, int length, int device) {
  if (device < 0 || device >= devices) return invalid_device;
  std::strncpy(id, device == 0 ? "0000:00:00.0" : "0000:01:00.0", static_cast<std::size_t>(length));
  return success;
}
int cuDeviceGetByPCIBusId(int* device, const char* id) {
  const std::string text = id;
  if (text != "0000:00:00.0" && text != "0000:01:00.0") return invalid_value;
  return *device = text[6] - '0', success;
}

int cuDevicePrimaryCtxRetain(Context** context, int device) {
  return *context = &state().contexts.at(static_cast<std::size_t>(device)), success;
}
int cuDevicePrimaryCtxRelease_v2(int) { return success; }
int cuCtxGetCurrent(Context** context) { return *context = current_context(), success; }
int cuCtxGetDevice(int* device) {
  if (current_context() == nullptr) return invalid_context;
  return *device = static_cast<int>(number_of(current_context())), success;
}
int cuCtxPushCurrent_v2(Context* context) { return current.push_back(context), success; }
int cuCtxPopCurrent_v2(Context** context) {
  if (current.empty()) return invalid_context;
  *context = current.back();
  current.pop_back();
  return success;
}
int cuCtxSynchronize() {
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  for (const auto& [stream, alive] : state().streams) {
    if (stream->context == current_context()) run_all(stream);
  }
  return context_error();
}

int cuStreamCreate(Stream** stream, unsigned) {
  if (const int error = context_error()) return error;
  const Lock lock(state().mutex);
  *stream = new Stream;
  (*stream)->context = current_context();
  state().streams[*stream] = true;
  return success;
}
int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  if (const int error = enter("cuStreamCreateWithPriority")) return error;
  if (const int error = cuStreamCreate(stream, flags)) return error;
  (*stream)->flags = flags;
  (*stream)->priority = priority;
  return success;
}
int cuStreamGetPriority(Stream* stream, int* priority) {
  return *priority = stream->priority, success;
}
int cuStreamGetFlags(Stream* stream, unsigned* flags) { return *flags = stream->flags, success; }
int cuStreamDestroy_v2(Stream* stream) {
  const Lock lock(state().mutex);
  run_all(stream);
  state().streams.erase(stream);
  delete stream;
  return success;
}
int cuStreamSynchronize(Stream* stream) {
  if (const int error = enter("cuStreamSynchronize")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (stream->capture != nullptr || unsafe_now()) return capture_unsupported;
  return run_all(stream);
}
int cuStreamQuery(Stream* stream) {
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (stream->capture != nullptr || unsafe_now()) return capture_unsupported;
  if (stream->context->lost != success) return stream->context->lost;
  return stream->work.empty() ? success : not_ready;
}
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  if (const int error = enter("cuStreamWaitEvent")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (stream->context->lost != success) return stream->context->lost;
  if ((stream->capture != nullptr) != event->mark->captured) return capture_isolation;
  if (stream->capture != nullptr) return success;
  if (event->shared != nullptr && event->file < 0) {
    stream->work.emplace_back([event] { run_until_passed(*event); });
    return success;
  }
  stream->work.emplace_back([mark = event->mark] { run_until(*mark); });
  return success;
}
/// On a thread of its own, as the real one; the stream goes on when that is done.
int cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  if (const int error = enter("cuLaunchHostFunc")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (const int error = stream_error(stream)) return error;
  Node node;
  node.work = [=] { std::thread(function, data).join(); };
  return submit(stream, node);
}
int cuStreamGetCtx(Stream* stream, Context** context) {
  return *context = resolve(stream)->context, success;
}

int cuEventCreate(Event** event, unsigned flags) {
  if (const int error = enter("cuEventCreate")) return error;
  if (const int error = context_error()) return error;
  *event = new Event;
  (*event)->context = current_context();
  constexpr unsigned disable_timing = 2, interprocess = 4;
  (*event)->timed = (flags & disable_timing) == 0;
  if ((flags & interprocess) != 0) {
    if ((*event)->timed) return invalid_value;
    const SharedPages pages = make_shared_pages(sizeof(SharedMarks));
    (*event)->shared = static_cast<SharedMarks*>(pages.memory);
    (*event)->file = pages.file;
  }
  return success;
}
int cuEventDestroy_v2(Event*) { return success; }
int cuEventRecord(Event* event, Stream* stream) {
  if (const int error = enter("cuEventRecord")) return error;
  stream = resolve(stream);
  const Lock lock(state().mutex);
  if (stream->context->lost != success) return stream->context->lost;
  if (event->context != stream->context) return invalid_handle;
  event->mark = std::make_shared<Mark>(Mark{stream, false, stream->capture != nullptr});
  if (stream->capture != nullptr) return success;
  if (event->shared != nullptr) ++event->shared->recorded;
  stream->work.emplace_back([mark = event->mark, shared = event->shared] {
    mark->passed = true;
    if (shared != nullptr) ++shared->passed;
    mark->when = state().microseconds;
  });
  return success;
}
int cuEventQuery(Event* event) {
  const Lock lock(state().mutex);
  if (event->mark->captured || unsafe_now()) return capture_unsupported;
  if (event->context->lost != success) return event->context->lost;
  if (event->shared != nullptr && event->file < 0)
    return event->shared->passed == event->shared->recorded ? success : not_ready;
  // A device works by itself: who asks often enough sees the work done.
  constexpr int often = 16;
  Mark& mark = *event->mark;
  if (!mark.passed && ++mark.asked > often) return run_until(mark);
  return mark.passed ? success : not_ready;
}
int cuEventSynchronize(Event* event) {
  if (const int error = enter("cuEventSynchronize")) return error;
  if (event->shared != nullptr && event->file < 0) return run_until_passed(*event), success;
  const Lock lock(state().mutex);
  return run_until(*event->mark);
}
int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  const Lock lock(state().mutex);
  if (!start->timed || !end->timed) return invalid_value;
  if (!start->mark->passed || !end->mark->passed) return not_ready;
  constexpr double a_millisecond = 1000;
  *milliseconds = static_cast<float>((end->mark->when - start->mark->when) / a_millisecond);
  return success;
}

int cuProfilerStart() { return enter("cuProfilerStart"); }
int cuProfilerStop() { return enter("cuProfilerStop"); }

// What no test calls, and what Heddle asks to be there.
#define HEDDLE_FAKE(name) \
  int name() { return not_found; }
HEDDLE_FAKE(cuMemsetD32Async)
HEDDLE_FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor)
#undef HEDDLE_FAKE
}
