#include "runtime/device/stream.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/fault.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/backend.h"
#include "runtime/device/per_device.h"

namespace heddle::runtime {

namespace {

/// Idle streams and events of one device. Never destroyed: the driver shuts down before static
/// destructors run.
struct Idle {
  ir::Mutex mutex;
  std::vector<StreamState*> streams;
  std::vector<EventHandle> events, timed_events;
};

Idle& idle_on(Device device) {
  static constinit PerDevice<Idle> all;
  return all.of(device, [] { return new Idle; });
}

bool is_asynchronous(Device device) { return capabilities_of(device).asynchronous; }

/// The only stream of a synchronous device.
StreamState* only_state(Device device) {
  static constinit PerDevice<StreamState> all;
  return &all.of(device, [&] {
    auto* const state = new StreamState;
    state->device = device;
    return state;
  });
}

StreamState* new_state(Device device, StreamHandle handle) {
  static std::atomic<std::uint32_t> count{0};
  auto* state = new StreamState;
  state->device = device;
  state->handle = handle;
  state->number = count.fetch_add(1) + 1;
  return state;
}

/// The calling thread's current streams, one for each device used.
std::vector<Stream>& currents() { return per_thread<std::vector<Stream>>(); }

Stream* find_current(Device device) {
  for (Stream& stream : currents()) {
    if (stream.device() == device) return &stream;
  }
  return nullptr;
}

}  // namespace

Stream::Stream(StreamState* state) : state_(state) {
  if (state_ != nullptr) state_->references.fetch_add(1, std::memory_order_relaxed);
}

Stream::~Stream() {
  if (state_ == nullptr || state_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!is_asynchronous(state_->device) || state_->borrowed) return;
  Idle& idle = idle_on(state_->device);
  std::lock_guard lock(idle.mutex);
  // In the meantime, Stream::of on a buffer's state may have acquired and released it again.
  if (state_->references.load() == 0 &&
      std::find(idle.streams.begin(), idle.streams.end(), state_) == idle.streams.end()) {
    idle.streams.push_back(state_);
  }
}

Stream Stream::create(Device device) {
  require_device(device);
  if (!is_asynchronous(device)) return Stream(only_state(device));
  Idle& idle = idle_on(device);
  {
    std::lock_guard lock(idle.mutex);
    while (!idle.streams.empty()) {
      StreamState* state = idle.streams.back();
      idle.streams.pop_back();
      if (state->references.load() == 0) return Stream(state);
    }
  }
  const ContextScope context(device);
  return Stream(new_state(device, backend_of(device).create_stream()));
}

Stream Stream::current(Device device) {
  if (!is_asynchronous(device)) return Stream(only_state(device));
  if (Stream* found = find_current(device)) return *found;
  return currents().emplace_back(create(device));
}

Stream Stream::borrow(Device device, StreamHandle handle) {
  if (!is_asynchronous(device)) return Stream(only_state(device));
  static constinit ir::Mutex mutex;
  static auto* const known = new std::unordered_map<StreamHandle, std::vector<StreamState*>>;
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
  if (is_asynchronous(device())) backend_of(device()).synchronize(handle(), device().ordinal);
}

bool Stream::idle() const {
  return !is_asynchronous(device()) || backend_of(device()).is_idle(handle(), device().ordinal);
}

bool Stream::capturing() const {
  return is_asynchronous(device()) && backend_of(device()).is_capturing(handle());
}

void Stream::wait(const Event& event) const {
  if (event.handle() == nullptr) return;
  if (is_asynchronous(device())) {
    backend_of(device()).wait(handle(), event.handle());
  } else {
    event.synchronize();
  }
}

StreamScope::StreamScope(Stream stream) : before_(Stream::current(stream.device())) {
  if (!is_asynchronous(stream.device())) return;
  Stream* const current = find_current(stream.device());
  *current = std::move(stream);
}

StreamScope::~StreamScope() {
  if (!is_asynchronous(before_.device())) return;
  Stream* const current = find_current(before_.device());
  *current = std::move(before_);
}

Event::Event(const Stream& stream, bool timed) : device_(stream.device()), timed_(timed) {
  if (!is_asynchronous(device_)) {
    when_ = std::chrono::steady_clock::now();
    return;
  }
  const Backend& backend = backend_of(device_);
  const ContextScope context(device_);
  {
    Idle& idle = idle_on(device_);
    std::lock_guard lock(idle.mutex);
    std::vector<EventHandle>& events = timed ? idle.timed_events : idle.events;
    if (!events.empty()) {
      handle_ = events.back();
      events.pop_back();
    }
  }
  if (handle_ == nullptr) handle_ = backend.create_event(timed);
  try {
    backend.record(handle_, stream.handle());
  } catch (const Error&) {
    backend.destroy(handle_);
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
  if (handle_ == nullptr || backend_of(device_).unusable()) return;
  Idle& idle = idle_on(device_);
  std::lock_guard lock(idle.mutex);
  (timed_ ? idle.timed_events : idle.events).push_back(handle_);
}

bool Event::done() const {
  return handle_ == nullptr || backend_of(device_).is_done(handle_, device_.ordinal);
}

void Event::synchronize() const {
  if (handle_ != nullptr) backend_of(device_).synchronize(handle_, device_.ordinal);
}

double Event::milliseconds_since(const Event& start) const {
  if (handle_ == nullptr) {
    return std::chrono::duration<double, std::milli>(when_ - start.when_).count();
  }
  return backend_of(device_).milliseconds_between(start.handle_, handle_);
}

std::optional<Device> device_of_pointer(const void* pointer) {
  for (const DeviceKind kind : preferred_kinds) {
    if (const std::optional<Device> owner = backend_of(kind).owner_of(pointer)) return owner;
  }
  return std::nullopt;
}

void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
          const Stream& stream) {
  if (bytes == 0) return;
  if (fault::point(fault::Kind::launch)) throw DeviceError("a copy failed: injected fault");
  const bool to_host = capabilities_of(to_device).host_memory;
  if (to_host && capabilities_of(from_device).host_memory) {
    std::memmove(to, from, bytes);
    return;
  }
  const Device owner = to_host ? from_device : to_device;
  backend_of(owner).copy(to, to_device, from, from_device, bytes, stream);
}

void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream) {
  if (bytes != 0) backend_of(stream.device()).fill(to, value, bytes, stream);
}

void synchronize(Device device) { backend_of(device).synchronize(device.ordinal); }

}  // namespace heddle::runtime
