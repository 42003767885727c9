#include "runtime/device/memory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "runtime/base/fault.h"
#include "runtime/device/backend.h"
#include "runtime/device/per_device.h"

namespace heddle::runtime {

namespace {

/// Marks the end of a stream's current work with an event. No event can be recorded while a graph
/// is being captured from the stream; the event is then recorded at the first query after the
/// capture.
class EventMarker : public PoolMarker {
 public:
  explicit EventMarker(StreamState* stream) : stream_(stream) { mark(); }
  bool passed() override { return mark() && event_->done(); }
  void wait() override {
    if (mark()) event_->synchronize();
  }

 private:
  bool mark() {
    const std::lock_guard lock(mutex_);
    if (event_) return true;
    const Stream stream = Stream::of(stream_);
    if (!stream.capturing()) event_.emplace(stream);
    return event_.has_value();
  }
  StreamState* stream_;
  ir::Mutex mutex_;             ///< guards the making of event_
  std::optional<Event> event_;  ///< never changes once it is made
};

class DeviceMemory final : public PoolBackend {
 public:
  explicit DeviceMemory(Device device) : backend_(backend_of(device)), ordinal_(device.ordinal) {}

  void* reserve(std::size_t bytes) override { return backend_.reserve(ordinal_, bytes); }
  void release(void* pointer, std::size_t) noexcept override {
    backend_.release(ordinal_, pointer);
  }
  std::size_t free_bytes() override { return backend_.free_bytes(ordinal_); }
  bool idle(StreamState* stream) override { return Stream::of(stream).idle(); }
  std::unique_ptr<PoolMarker> mark(StreamState* stream) override {
    return std::make_unique<EventMarker>(stream);
  }

 private:
  const Backend& backend_;
  int ordinal_;
};

/// A device's pool and its memory. Never destroyed: buffers may be released at process exit.
struct DevicePool {
  explicit DevicePool(Device device) : memory(device), pool(memory) {
    if (const auto bytes = ir::bytes(ir::Variable::memory_limit)) pool.set_limit(*bytes);
  }

  DeviceMemory memory;
  MemoryPool pool;
};

struct Reclaimers {
  ir::Mutex mutex;
  std::map<int, std::function<void(Device, std::size_t)>> all;
  int next = 0;
};

Reclaimers& reclaimers() {
  static auto* const instance = new Reclaimers;
  return *instance;
}

void reclaim(Device device, std::size_t bytes) {
  std::map<int, std::function<void(Device, std::size_t)>> all;
  {
    std::lock_guard lock(reclaimers().mutex);
    all = reclaimers().all;
  }
  for (const auto& [number, reclaimer] : all) reclaimer(device, bytes);
}

[[noreturn]] void throw_out_of_memory(const MemoryPool& pool, Device device,
                                      const BlockRequest& request) {
  const MemoryStatistics numbers = pool.statistics();
  constexpr std::size_t listed = 10;
  throw OutOfMemory(fmt::format(
      "{} cannot allocate {} bytes ({}): the pool uses {} bytes in {} blocks, of {} bytes "
      "reserved{}{}; largest free block {}. Largest blocks:\n{}",
      to_string(device), request.bytes, purpose(request.label, request.line), numbers.in_use,
      numbers.blocks, numbers.reserved,
      pool.limit() != 0 ? fmt::format(" under a limit of {}", pool.limit()) : std::string(),
      backend_of(device).describe_free(device.ordinal), pool.largest_free(),
      pool.describe_largest(listed)));
}

bool poisons() {
  static const bool on = ir::flag(ir::Variable::poison, false);
  return on;
}

/// Makes the stream wait for a borrowed one. Returns false if a graph is being captured from one of
/// them.
bool wait_for_borrowed(const Stream& stream, const Stream& borrowed) {
  if (!capabilities_of(stream.device()).asynchronous || stream.capturing() || borrowed.capturing())
    return false;
  stream.wait(Event(borrowed));
  return true;
}

}  // namespace

void Buffer::describe(const Label& label, ir::Location line) {
  if (chunk_ != nullptr) pool_of(device()).describe(chunk_, label, line);
}

void Buffer::used_on(const Stream& stream) {
  if (stream.state() == stream_) return;
  if (stream.state()->borrowed && wait_for_borrowed(Stream::of(stream_), stream)) return;
  std::lock_guard lock(mutex_);
  if (std::find(users_.begin(), users_.end(), stream.state()) == users_.end()) {
    users_.push_back(stream.state());
  }
}

void Buffer::wait_for_users(const Stream& stream) {
  if (!capabilities_of(device()).asynchronous) return;  // it has one stream
  std::vector<StreamState*> users;
  {
    const std::lock_guard lock(mutex_);
    users = users_;
  }
  for (StreamState* const user : users) stream.wait_for(Stream::of(user));
}

Buffer::~Buffer() {
  // At exit the driver may already have shut down and released its memory.
  if (chunk_ != nullptr && !backend_of(device()).unusable()) {
    pool_of(device()).free(chunk_, users_);
  }
  if (on_release_) ir::outside_fork_sections(std::move(on_release_));
}

BufferRef::~BufferRef() {
  if (buffer_ != nullptr && buffer_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete buffer_;
  }
}

Label label_of(const ir::Type& type, std::string_view of) {
  std::string text = ir::describe(type);
  if (!of.empty()) text.append(" of ").append(of);
  return std::make_shared<const std::string>(std::move(text));
}

BufferRef allocate(std::size_t bytes, const Stream& stream, const Label& label, ir::Location line) {
  if (bytes == 0) return BufferRef(new Buffer(stream.state(), nullptr, 0, nullptr));
  const ir::Span span(ir::Phase::allocate, "");
  if (ir::SpanData* const told = span.data()) {
    told->name = label ? *label : "memory";
    told->bytes = bytes;
  }
  MemoryPool& pool = pool_of(stream.device());
  const bool refused = fault::point(fault::Kind::allocation);
  const BlockRequest request{bytes, label, line};
  auto attempt = [&] { return refused ? nullptr : pool.allocate(request, stream.state()); };
  Chunk* chunk = attempt();
  if (chunk == nullptr) {
    // Reclaimers may evaluate, compile and wait for other threads. The pool waits for streams,
    // which may call functions of the user.
    const ir::ForkPause pause;
    reclaim(stream.device(), bytes);
    pool.trim(true);
    chunk = attempt();
    if (chunk == nullptr && !refused) chunk = pool.borrow(request, stream.state());
  }
  if (chunk == nullptr) throw_out_of_memory(pool, stream.device(), request);
  BufferRef out(new Buffer(stream.state(), chunk->pointer, bytes, chunk));
  poison(*out, stream);
  return out;
}

void poison(const Buffer& buffer, const Stream& stream) {
  if (poisons()) fill(buffer.pointer(), 0xff, buffer.bytes(), stream);
}

BufferRef borrow(void* pointer, std::size_t bytes, const Stream& stream,
                 std::function<void()> on_release) {
  auto* buffer = new Buffer(stream.state(), pointer, bytes, nullptr);
  buffer->on_release_ = on_release ? std::move(on_release) : [] {};
  return BufferRef(buffer);
}

MemoryPool& pool_of(Device device) {
  static constinit PerDevice<DevicePool> pools;
  return pools.of(device, [&] { return new DevicePool(device); }).pool;
}

int add_reclaimer(std::function<void(Device, std::size_t)> reclaimer) {
  Reclaimers& own = reclaimers();
  std::lock_guard lock(own.mutex);
  own.all.emplace(own.next, std::move(reclaimer));
  return own.next++;
}

void remove_reclaimer(int number) {
  Reclaimers& own = reclaimers();
  std::lock_guard lock(own.mutex);
  own.all.erase(number);
}

}  // namespace heddle::runtime
