#include "runtime/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/mman.h>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/fork_gate.h"
#include "ir/span.h"
#include "runtime/byte_size.h"
#include "runtime/fault.h"
#include "runtime/host_memory.h"
#include "runtime/log.h"

namespace heddle::runtime {

namespace {

/// While somebody captures a graph from the stream, what it held before cannot be marked: the mark
/// is then made as soon as that is over.
class EventMarker : public PoolMarker {
 public:
  explicit EventMarker(StreamState* stream) : stream_(stream) { mark(); }
  bool passed() override { return mark() && event_->done(); }
  void wait() override {
    if (mark()) event_->synchronize();
  }

 private:
  bool mark() {
    if (event_) return true;
    const Stream stream = Stream::of(stream_);
    if (!stream.capturing()) event_.emplace(stream);
    return event_.has_value();
  }
  StreamState* stream_;
  std::optional<Event> event_;
};

class DeviceBackend : public PoolBackend {
 public:
  bool idle(StreamState* stream) override { return Stream::of(stream).idle(); }
  std::unique_ptr<PoolMarker> mark(StreamState* stream) override {
    return std::make_unique<EventMarker>(stream);
  }
};

class CudaBackend final : public DeviceBackend {
 public:
  explicit CudaBackend(int ordinal) : ordinal_(ordinal) {}

  void* reserve(std::size_t bytes) override {
    cuda::ContextScope context(ordinal_);
    cuda::DevicePointer pointer = 0;
    const cuda::Result result = cuda::driver().mem_alloc.attempt(&pointer, bytes);
    if (result == cuda::Result::out_of_memory) return nullptr;
    cuda::check(result, "cuMemAlloc_v2");
    return reinterpret_cast<void*>(pointer);
  }

  std::size_t free_bytes() override {
    std::size_t free = 0, total = 0;
    cuda::ContextScope context(ordinal_);
    const cuda::Result result = cuda::driver().mem_get_info.attempt(&free, &total);
    return result == cuda::Result::success ? free : SIZE_MAX;
  }

  void release(void* pointer, std::size_t) noexcept override {
    if (cuda::unusable()) return;
    try {
      cuda::ContextScope context(ordinal_);
      cuda::driver().mem_free(reinterpret_cast<cuda::DevicePointer>(pointer));
    } catch (const Error& failure) {
      // Of a lost device everyone is told who uses it.
      if (cuda::describe_loss(ordinal_).empty()) log().error("{}", failure.what());
    }
  }

 private:
  int ordinal_;
};

class HostBackend final : public DeviceBackend {
 public:
  /// Segments are whole multiples of 2 MiB, aligned so that the kernel can back them by huge pages.
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t worth_asking = std::size_t{64} << 20;

  /// The system promises more than it has, and ends the process that takes it at its word.
  void* reserve(std::size_t bytes) override {
    if (bytes >= worth_asking && bytes > host_free_bytes()) return nullptr;
    void* pointer = nullptr;
    if (posix_memalign(&pointer, huge_page, bytes) != 0) return nullptr;
    if (bytes > huge_page) madvise(pointer, bytes, MADV_HUGEPAGE);
    return pointer;
  }

  std::size_t free_bytes() override { return host_free_bytes(); }

  void release(void* pointer, std::size_t) noexcept override { std::free(pointer); }
};

/// A device's pool and the memory behind it. Never destroyed: buffers may die at process exit.
struct DevicePool {
  explicit DevicePool(Device device)
      : backend(device.is_cuda()
                    ? std::unique_ptr<PoolBackend>(std::make_unique<CudaBackend>(device.ordinal))
                    : std::make_unique<HostBackend>()),
        pool(*backend) {
    const char* text = std::getenv("HEDDLE_MEMORY_LIMIT");
    if (text == nullptr || *text == '\0') return;
    if (const auto bytes = parse_byte_size(text)) {
      pool.set_limit(*bytes);
    } else {
      log().warn("HEDDLE_MEMORY_LIMIT='{}' is not bytes such as 512M; it is ignored", text);
    }
  }

  std::unique_ptr<PoolBackend> backend;
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
  // They may evaluate, compile and wait for others.
  const ir::ForkPause pause;
  for (const auto& [number, reclaimer] : all) reclaimer(device, bytes);
}

[[noreturn]] void throw_out_of_memory(const MemoryPool& pool, Device device,
                                      const BlockRequest& request) {
  const MemoryStatistics numbers = pool.statistics();
  std::string available;
  if (device.is_cuda()) {
    std::size_t free = 0, total = 0;
    cuda::ContextScope context(device.ordinal);
    if (cuda::driver().mem_get_info.attempt(&free, &total) == cuda::Result::success) {
      available = fmt::format(", {} of the GPU's {} bytes free", free, total);
    }
  }
  constexpr std::size_t listed = 10;
  throw OutOfMemory(fmt::format(
      "{} has no memory for {} bytes ({}): the pool holds {} bytes in {} blocks of {} bytes "
      "reserved{}{}, largest free block {}. Largest blocks:\n{}",
      to_string(device), request.bytes, purpose(request.label, request.line), numbers.in_use,
      numbers.blocks, numbers.reserved,
      pool.limit() != 0 ? fmt::format(" under a limit of {}", pool.limit()) : std::string(),
      available, pool.largest_free(), pool.describe_largest(listed)));
}

bool poisons() {
  static const bool on = [] {
    const char* text = std::getenv("HEDDLE_POISON");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return on;
}

}  // namespace

void Buffer::describe(const Label& label, ir::Location line) {
  if (chunk_ != nullptr) pool_of(device()).describe(chunk_, label, line);
}

void Buffer::used_on(const Stream& stream) {
  if (stream.state() == stream_) return;
  std::lock_guard lock(mutex_);
  if (std::find(users_.begin(), users_.end(), stream.state()) == users_.end()) {
    users_.push_back(stream.state());
  }
}

Buffer::~Buffer() {
  // At exit the driver may be gone, and its memory with it.
  if (chunk_ != nullptr && !(device().is_cuda() && cuda::unusable())) {
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
  std::string text = ir::to_string(type);
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
  static auto* const cpu = new DevicePool(Device{});
  if (!device.is_cuda()) return cpu->pool;
  static auto* const gpus = new std::vector<std::atomic<DevicePool*>>(
      static_cast<std::size_t>(device_count(DeviceKind::cuda)));
  const auto index = static_cast<std::size_t>(device.ordinal);
  if (index >= gpus->size()) require_device(device);
  std::atomic<DevicePool*>& place = (*gpus)[index];
  if (DevicePool* const made = place.load(std::memory_order_acquire)) return made->pool;
  static constinit ir::Mutex mutex;
  const std::lock_guard lock(mutex);
  if (place.load() == nullptr) place.store(new DevicePool(device));
  return place.load()->pool;
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
