#include "runtime/device/stream.h"

#include <algorithm>
#include <bit>
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

StreamState* new_state(Device device, StreamHandle handle, const StreamKind& kind = {}) {
  static std::atomic<std::uint32_t> count{0};
  auto* state = new StreamState;
  state->device = device;
  state->handle = handle;
  state->kind = kind;
  state->number = count.fetch_add(1) + 1;
  return state;
}

/// The streams of each handle. Never destroyed.
struct KnownStreams {
  ir::Mutex mutex;
  std::unordered_map<StreamHandle, std::vector<StreamState*>> by_handle;
};

KnownStreams& known_streams() {
  static auto* const known = new KnownStreams;
  return *known;
}

/// A thread's streams on one device.
struct ThreadStreams {
  Stream own, current;
  std::vector<Stream> left;  ///< were current since the thread last waited for all of its work

  /// Keeps the current stream, which is about to be replaced.
  void leave_current();
};

void ThreadStreams::leave_current() {
  // The owner of a borrowed stream may destroy it when it is no longer current.
  if (current == own || current.state()->borrowed) return;
  if (std::ranges::find(left, current) != left.end()) return;
  constexpr std::size_t many = 16;
  if (left.size() >= many && std::has_single_bit(left.size()))
    std::erase_if(left, [](const Stream& stream) { return stream.idle(); });
  left.push_back(current);
}

/// The calling thread's streams on a device.
ThreadStreams& streams_on(Device device) {
  std::vector<ThreadStreams>& all = per_thread<std::vector<ThreadStreams>>();
  for (ThreadStreams& each : all) {
    if (each.own.device() == device) return each;
  }
  const Stream own = Stream::create(device);
  return all.emplace_back(ThreadStreams{own, own, {}});
}

/// The handles of default streams mean those of the current context.
class BorrowedContext {
 public:
  explicit BorrowedContext(const StreamState& state) {
    if (state.borrowed) context_.emplace(state.device);
  }

 private:
  std::optional<ContextScope> context_;
};

/// A function that a stream calls.
struct HostCall final : GraphResource {
  explicit HostCall(std::function<void()> given) : function(std::move(given)) {}
  void on_graph_destroyed() override {}
  std::function<void()> function;
};

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

Stream Stream::create(Device device, const StreamKind& kind) {
  require_device(device);
  if (!is_asynchronous(device)) return Stream(only_state(device));
  Idle& idle = idle_on(device);
  {
    std::lock_guard lock(idle.mutex);
    std::erase_if(idle.streams, [](const StreamState* state) { return state->references != 0; });
    // A stream that was abandoned during a capture is of no use.
    const auto usable = [&](const StreamState* state) {
      return state->kind == kind && !backend_of(device).is_capturing(state->handle);
    };
    const auto found = std::ranges::find_if(idle.streams, usable);
    if (found != idle.streams.end()) {
      Stream reused(*found);
      idle.streams.erase(found);
      return reused;
    }
  }
  const ContextScope context(device);
  StreamState* const state = new_state(device, backend_of(device).create_stream(kind), kind);
  Stream stream(state);
  std::lock_guard lock(known_streams().mutex);
  // Someone else's stream that had the handle is gone.
  known_streams().by_handle[state->handle] = {state};
  return stream;
}

Stream Stream::own(Device device) {
  if (!is_asynchronous(device)) return Stream(only_state(device));
  return streams_on(device).own;
}

Stream Stream::current(Device device) {
  if (!is_asynchronous(device)) return Stream(only_state(device));
  return streams_on(device).current;
}

void Stream::set_current(Stream stream) {
  if (!is_asynchronous(stream.device())) return;
  ThreadStreams& streams = streams_on(stream.device());
  if (streams.current == stream) return;
  streams.leave_current();
  streams.current = std::move(stream);
}

Stream Stream::borrow(Device device, StreamHandle handle) {
  if (!is_asynchronous(device)) return Stream(only_state(device));
  std::lock_guard lock(known_streams().mutex);
  std::vector<StreamState*>& known = known_streams().by_handle[handle];
  for (StreamState* state : known) {
    if (state->device == device) return Stream(state);
  }
  StreamState* const state = new_state(device, handle);
  state->borrowed = true;
  known.push_back(state);
  return Stream(state);
}

void Stream::synchronize() const {
  if (!is_asynchronous(device())) return;
  const BorrowedContext context(*state_);
  backend_of(device()).synchronize(handle(), device().ordinal);
}

bool Stream::idle() const {
  if (!is_asynchronous(device())) return true;
  const BorrowedContext context(*state_);
  return backend_of(device()).is_idle(handle(), device().ordinal);
}

bool Stream::capturing() const {
  if (!is_asynchronous(device())) return false;
  const BorrowedContext context(*state_);
  return backend_of(device()).is_capturing(handle());
}

void Stream::wait(const Event& event) const {
  if (event.handle() == nullptr) return;
  if (is_asynchronous(device())) {
    const BorrowedContext context(*state_);
    backend_of(device()).wait(handle(), event.handle());
  } else {
    event.synchronize();
  }
}

void Stream::wait_for(const Stream& other) const {
  if (*this == other || other.idle()) return;
  if (capturing() && !other.capturing()) {
    other.synchronize();
  } else {
    wait(Event(other));
  }
}

void Stream::call_on_host(std::function<void()> function) const {
  if (!is_asynchronous(device())) return function();
  const Backend& backend = backend_of(device());
  const ContextScope context(device());
  auto call = std::make_unique<HostCall>(std::move(function));
  if (capturing()) {
    HostCall* const held = call.get();
    backend.retain_by_captured_graph(handle(), std::move(call));
    const auto run = [](void* data) { static_cast<HostCall*>(data)->function(); };
    return backend.call_on_host(handle(), run, held);
  }
  const auto run_once = [](void* data) {
    const std::unique_ptr<HostCall> once(static_cast<HostCall*>(data));
    once->function();
  };
  backend.call_on_host(handle(), run_once, call.get());
  static_cast<void>(call.release());  // the callback owns it
}

void Stream::begin_capture(CaptureMode mode) const {
  if (!is_asynchronous(device()))
    throw DeviceError(to_string(device()) + " has no graphs; jit makes one program of many calls");
  const ContextScope context(device());
  backend_of(device()).begin_capture(handle(), mode);
}

std::unique_ptr<CapturedWork> Stream::end_capture() const {
  if (!capturing()) throw DeviceError("end_capture: no capture of this stream has begun");
  const ContextScope context(device());
  return backend_of(device()).end_capture(*this);
}

StreamScope::StreamScope(Stream stream) : before_(Stream::current(stream.device())) {
  Stream::set_current(std::move(stream));
}

StreamScope::~StreamScope() { Stream::set_current(std::move(before_)); }

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
  if (handle_ == nullptr) handle_ = backend.create_event({.timed = timed});
  try {
    backend.record(handle_, stream.handle());
  } catch (const Error&) {
    backend.destroy(handle_);
    throw;
  }
}

Event::Event(Device device, const EventKind& kind)
    : device_(device), timed_(kind.timed), pooled_(false), when_(std::chrono::steady_clock::now()) {
  require_device(device);
  if (!is_asynchronous(device)) return;
  const ContextScope context(device);
  handle_ = backend_of(device).create_event(kind);
}

Event::Event(Device device, const IpcHandle& handle) : device_(device), pooled_(false) {
  require_device(device);
  const ProcessSharing& sharing = process_sharing_of(device, "events");
  const ContextScope context(device);
  handle_ = sharing.open_event(handle);
}

void Event::record(const Stream& stream) {
  if (!(stream.device() == device_)) {
    throw DeviceError("an event of " + to_string(device_) + " cannot be recorded on a stream of " +
                      to_string(stream.device()));
  }
  if (!is_asynchronous(device_)) {
    when_ = std::chrono::steady_clock::now();
    return;
  }
  const ContextScope context(device_);
  backend_of(device_).record(handle_, stream.handle());
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(timed_, other.timed_);
  std::swap(pooled_, other.pooled_);
  std::swap(when_, other.when_);
  return *this;
}

Event::~Event() {
  if (handle_ == nullptr || backend_of(device_).unusable()) return;
  if (!pooled_) {
    backend_of(device_).destroy(handle_);
    return;
  }
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

const ProcessSharing& process_sharing_of(Device device, const char* what) {
  const ProcessSharing* const sharing = backend_of(device).process_sharing();
  if (sharing == nullptr) {
    throw DeviceError(std::string("other processes cannot open ") + what + " of " +
                      to_string(device) + "; use shared memory of the system there");
  }
  return *sharing;
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

void synchronize_thread() {
  for (ThreadStreams& streams : per_thread<std::vector<ThreadStreams>>()) {
    streams.current.synchronize();
    // What a stream captures has not been launched.
    const auto wait = [&](const Stream& stream) {
      if (!(stream == streams.current || stream.capturing())) stream.synchronize();
    };
    wait(streams.own);
    for (const Stream& stream : streams.left) wait(stream);
    streams.left.clear();
  }
}

}  // namespace heddle::runtime
