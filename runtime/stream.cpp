#include "runtime/stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "heddle/error.h"

#include "ir/fork_gate.h"
#include "runtime/fault.h"
#include "runtime/per_thread.h"

namespace heddle::runtime {

namespace {

/// Streams and events that nobody holds, for each GPU. Leaked, as handles die at exit.
struct Idle {
  ir::Mutex mutex;
  std::vector<StreamState*> streams;
  std::vector<cuda::EventHandle> events, timed_events;
};

Idle& idle_on(Device device) {
  static auto* const all = [] {
    auto* made = new std::vector<Idle>(
        static_cast<std::size_t>(std::max(1, device_count(DeviceKind::cuda))));
    return made;
  }();
  return (*all)[static_cast<std::size_t>(device.ordinal)];
}

StreamState* cpu_state() {
  static auto* const state = new StreamState;
  return state;
}

StreamState* new_state(Device device, cuda::StreamHandle handle) {
  static std::atomic<std::uint32_t> count{0};
  auto* state = new StreamState;
  state->device = device;
  state->handle = handle;
  state->number = count.fetch_add(1) + 1;
  return state;
}

/// The calling thread's current streams by GPU.
using CurrentStreams = std::vector<std::pair<int, Stream>>;

CurrentStreams& currents() { return per_thread<CurrentStreams>(); }

Stream* find_current(Device device) {
  for (auto& [ordinal, stream] : currents()) {
    if (ordinal == device.ordinal) return &stream;
  }
  return nullptr;
}

cuda::DevicePointer address(const void* pointer) {
  return reinterpret_cast<cuda::DevicePointer>(pointer);
}

}  // namespace

Stream::Stream(StreamState* state) : state_(state) {
  if (state_ != nullptr) state_->references.fetch_add(1, std::memory_order_relaxed);
}

Stream::~Stream() {
  if (state_ == nullptr || state_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!state_->device.is_cuda() || state_->borrowed) return;
  Idle& idle = idle_on(state_->device);
  std::lock_guard lock(idle.mutex);
  // A buffer's Stream::of may have taken it up again, and let go again, in the meantime.
  if (state_->references.load() == 0 &&
      std::find(idle.streams.begin(), idle.streams.end(), state_) == idle.streams.end()) {
    idle.streams.push_back(state_);
  }
}

Stream Stream::create(Device device) {
  require_device(device);
  if (!device.is_cuda()) return Stream(cpu_state());
  Idle& idle = idle_on(device);
  {
    std::lock_guard lock(idle.mutex);
    while (!idle.streams.empty()) {
      StreamState* state = idle.streams.back();
      idle.streams.pop_back();
      if (state->references.load() == 0) return Stream(state);
    }
  }
  cuda::ContextScope context(device.ordinal);
  cuda::StreamHandle handle = nullptr;
  cuda::driver().stream_create(&handle, cuda::stream_non_blocking);
  StreamState* const state = new_state(device, handle);
  return Stream(state);
}

Stream Stream::current(Device device) {
  if (!device.is_cuda()) return Stream(cpu_state());
  if (Stream* found = find_current(device)) return *found;
  currents().emplace_back(device.ordinal, create(device));
  return currents().back().second;
}

Stream Stream::borrow(Device device, cuda::StreamHandle handle) {
  if (!device.is_cuda()) return Stream(cpu_state());
  static constinit ir::Mutex mutex;
  static auto* const known = new std::unordered_map<cuda::StreamHandle, std::vector<StreamState*>>;
  std::lock_guard lock(mutex);
  for (StreamState* state : (*known)[handle]) {
    if (state->device == device) return Stream(state);
  }
  StreamState* const state = new_state(device, handle);
  state->borrowed = true;
  (*known)[handle].push_back(state);
  return Stream(state);
}

void Stream::synchronize() const {
  if (!device().is_cuda()) return;
  cuda::check(cuda::driver().stream_synchronize.attempt(handle()), "cuStreamSynchronize",
              device().ordinal);
}

bool Stream::idle() const {
  if (!device().is_cuda()) return true;
  if (capturing()) return false;
  const cuda::Result result = cuda::driver().stream_query.attempt(handle());
  // While a graph is captured elsewhere the driver may not say.
  if (result == cuda::Result::not_ready || result == cuda::Result::stream_capture_unsupported)
    return false;
  cuda::check(result, "cuStreamQuery", device().ordinal);
  return true;
}

bool Stream::capturing() const {
  if (!device().is_cuda()) return false;
  cuda::CaptureStatus status = cuda::CaptureStatus::none;
  cuda::driver().stream_is_capturing(handle(), &status);
  return status != cuda::CaptureStatus::none;
}

void Stream::wait(const Event& event) const {
  if (event.handle() == nullptr) return;
  if (device().is_cuda()) {
    cuda::driver().stream_wait_event(handle(), event.handle(), 0);
  } else {
    event.synchronize();
  }
}

StreamScope::StreamScope(Stream stream) : before_(Stream::current(stream.device())) {
  if (!stream.device().is_cuda()) return;
  Stream* const current = find_current(stream.device());
  *current = std::move(stream);
}

StreamScope::~StreamScope() {
  if (!before_.device().is_cuda()) return;
  Stream* const current = find_current(before_.device());
  *current = std::move(before_);
}

Event::Event(const Stream& stream, bool timed) : device_(stream.device()), timed_(timed) {
  if (!device_.is_cuda()) {
    when_ = std::chrono::steady_clock::now();
    return;
  }
  cuda::ContextScope context(device_.ordinal);
  {
    Idle& idle = idle_on(device_);
    std::lock_guard lock(idle.mutex);
    std::vector<cuda::EventHandle>& events = timed ? idle.timed_events : idle.events;
    if (!events.empty()) {
      handle_ = events.back();
      events.pop_back();
    }
  }
  if (handle_ == nullptr) {
    cuda::driver().event_create(&handle_, timed ? 0 : cuda::event_disable_timing);
  }
  try {
    cuda::driver().event_record(handle_, stream.handle());
  } catch (const Error&) {
    cuda::driver().event_destroy.attempt(handle_);
    throw;
  }
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(timed_, other.timed_);
  std::swap(when_, other.when_);
  return *this;
}

Event::~Event() {
  if (handle_ == nullptr || cuda::unusable()) return;
  Idle& idle = idle_on(device_);
  std::lock_guard lock(idle.mutex);
  (timed_ ? idle.timed_events : idle.events).push_back(handle_);
}

bool Event::done() const {
  if (handle_ == nullptr) return true;
  const cuda::Result result = cuda::driver().event_query.attempt(handle_);
  if (result == cuda::Result::not_ready) return false;
  cuda::check(result, "cuEventQuery", device_.ordinal);
  return true;
}

void Event::synchronize() const {
  if (handle_ == nullptr) return;
  cuda::check(cuda::driver().event_synchronize.attempt(handle_), "cuEventSynchronize",
              device_.ordinal);
}

double Event::milliseconds_since(const Event& start) const {
  if (handle_ == nullptr) {
    return std::chrono::duration<double, std::milli>(when_ - start.when_).count();
  }
  float out = 0;
  cuda::driver().event_elapsed_time(&out, start.handle_, handle_);
  return static_cast<double>(out);
}

std::optional<Device> device_of_pointer(const void* pointer) {
  if (!cuda::available()) return std::nullopt;
  unsigned type = 0;  // stays so for memory that the driver does not know
  int ordinal = 0;
  std::array attributes = {cuda::PointerAttribute::memory_type,
                           cuda::PointerAttribute::device_ordinal};
  std::array<void*, 2> values = {&type, &ordinal};
  cuda::driver().pointer_get_attributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                        values.data(), address(pointer));
  if (type == 0) return std::nullopt;
  if (type == static_cast<unsigned>(cuda::MemoryType::host)) return Device{};
  return Device{DeviceKind::cuda, ordinal};
}

void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
          const Stream& stream) {
  if (bytes == 0) return;
  if (fault::point(fault::Kind::launch)) throw DeviceError("a copy failed: injected fault");
  if (!to_device.is_cuda() && !from_device.is_cuda()) {
    std::memmove(to, from, bytes);
    return;
  }
  const cuda::Driver& driver = cuda::driver();
  if (!stream.device().is_cuda()) {
    throw InternalError("a copy from or to a GPU needs a stream of that GPU, not the CPU's");
  }
  cuda::ContextScope context(stream.device().ordinal);
  if (!from_device.is_cuda()) {
    driver.memcpy_htod_async(address(to), from, bytes, stream.handle());
    // Pageable memory is staged before a copy from it returns; what the driver knows, pinned and
    // managed memory, the device reads itself when the copy's turn comes.
    if (device_of_pointer(from) && !stream.capturing()) stream.synchronize();
  } else if (!to_device.is_cuda()) {
    driver.memcpy_dtoh_async(to, address(from), bytes, stream.handle());
  } else if (to_device == from_device) {
    driver.memcpy_dtod_async(address(to), address(from), bytes, stream.handle());
  } else {
    driver.memcpy_peer_async(address(to), cuda::primary_context(to_device.ordinal), address(from),
                             cuda::primary_context(from_device.ordinal), bytes, stream.handle());
  }
}

void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream) {
  if (bytes == 0) return;
  if (!stream.device().is_cuda()) {
    std::memset(to, value, bytes);
    return;
  }
  cuda::ContextScope context(stream.device().ordinal);
  cuda::driver().memset_d8_async(address(to), value, bytes, stream.handle());
}

void synchronize(Device device) {
  if (!device.is_cuda()) return;
  cuda::ContextScope context(device.ordinal);
  cuda::driver().ctx_synchronize();
}

}  // namespace heddle::runtime
