#include "runtime/device/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "runtime/base/fault.h"
#include "runtime/device/allocator.h"
#include "runtime/device/backend.h"
#include "runtime/device/device_pool.h"
#include "runtime/device/memory_hooks.h"
#include "runtime/device/per_device.h"

namespace heddle::runtime {

namespace {

std::size_t rounded(std::size_t bytes) {
  return bytes > SIZE_MAX - MemoryPool::unit
             ? bytes
             : (bytes + MemoryPool::unit - 1) / MemoryPool::unit * MemoryPool::unit;
}

/// The default pool of a device. Never destroyed: buffers may be released at process exit.
DevicePool* make_default_pool(Device device) {
  auto* const made = new DevicePool(device, nullptr, nullptr);
  if (const auto bytes = ir::bytes(ir::Variable::memory_limit)) made->pool.set_limit(*bytes);
  return made;
}

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

[[noreturn]] void throw_out_of_memory(Allocator& allocator, Device device,
                                      const BlockRequest& request) {
  if (const MemoryPool* const pool = allocator.pool(device))
    throw_out_of_memory(*pool, device, request);
  const MemoryStatistics numbers = allocator.statistics(device);
  throw OutOfMemory(fmt::format(
      "{} cannot allocate {} bytes ({}): the allocator that was set has no more memory; it has "
      "given {} bytes in {} blocks{}",
      to_string(device), request.bytes, purpose(request.label, request.line), numbers.in_use,
      numbers.blocks, backend_of(device).describe_free(device.ordinal)));
}

/// What an allocation needs of an allocator, or of the default pool.
class Blocks {
 public:
  Blocks(Allocator* allocator, const Stream& stream)
      : allocator_(allocator), stream_(stream), pool_(pool_of(stream.device())) {}

  Chunk* allocate(const BlockRequest& request) const {
    return allocator_ != nullptr ? allocator_->allocate(request, stream_)
                                 : pool_.allocate(request, stream_.state());
  }
  Chunk* borrow(const BlockRequest& request) const {
    return allocator_ != nullptr ? allocator_->borrow(request, stream_)
                                 : pool_.borrow(request, stream_.state());
  }
  void trim() const {
    if (allocator_ != nullptr) allocator_->trim(stream_.device(), true);
    pool_.trim(true);
  }
  [[noreturn]] void fail(const BlockRequest& request) const {
    if (allocator_ != nullptr) throw_out_of_memory(*allocator_, stream_.device(), request);
    throw_out_of_memory(pool_, stream_.device(), request);
  }

 private:
  Allocator* allocator_;
  const Stream& stream_;
  MemoryPool& pool_;
};

/// A block for the request. Throws OutOfMemory.
Chunk* take_block(const Blocks& blocks, const BlockRequest& request, Device device) {
  const bool refused = fault::point(fault::Kind::allocation);
  auto attempt = [&] { return refused ? nullptr : blocks.allocate(request); };
  Chunk* chunk = attempt();
  if (chunk == nullptr) {
    // Reclaimers may evaluate, compile and wait for other threads. The pool waits for streams,
    // which may call functions of the user.
    const ir::ForkPause pause;
    reclaim(device, request.bytes);
    blocks.trim();
    chunk = attempt();
    if (chunk == nullptr && !refused) chunk = blocks.borrow(request);
  }
  if (chunk == nullptr) blocks.fail(request);
  return chunk;
}

void free_block(Chunk* chunk, Device device, std::span<StreamState* const> users) noexcept {
  const auto free = [&] {
    if (Allocator* const allocator = allocator_of(*chunk)) {
      allocator->free(chunk, device, users);
    } else {
      pool_of(device).free(chunk, users);
    }
  };
  if (!has_memory_hooks()) return free();
  free_with_hooks({.device = device,
                   .bytes = chunk->bytes,
                   .pointer = chunk->pointer,
                   .block = reinterpret_cast<std::uintptr_t>(chunk),
                   .label = chunk->label,
                   .line = chunk->line},
                  free);
}

/// take_block() between the calls of the hooks.
Chunk* take_block_with_hooks(const Blocks& blocks, const BlockRequest& request, Device device) {
  MemoryEvent event{.device = device,
                    .requested = request.bytes,
                    .bytes = rounded(request.bytes),
                    .label = request.label,
                    .line = request.line};
  call_memory_hooks(MemoryStep::before_allocate, event);
  Chunk* chunk = nullptr;
  try {
    chunk = take_block(blocks, request, device);
  } catch (const OutOfMemory&) {
    call_memory_hooks(MemoryStep::after_allocate, event);
    throw;
  }
  event.bytes = chunk->bytes;
  event.pointer = chunk->pointer;
  event.block = reinterpret_cast<std::uintptr_t>(chunk);
  try {
    call_memory_hooks(MemoryStep::after_allocate, event);
  } catch (...) {
    free_block(chunk, device, {});
    throw;
  }
  return chunk;
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
  if (chunk_ == nullptr) return;
  if (Allocator* const allocator = allocator_of(*chunk_)) {
    allocator->describe(chunk_, label, line);
  } else {
    pool_of(device()).describe(chunk_, label, line);
  }
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
  if (chunk_ != nullptr && !backend_of(device()).unusable()) free_block(chunk_, device(), users_);
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
  const BlockRequest request{bytes, label, line};
  const std::shared_ptr<Allocator> allocator = current_allocator();
  const bool hooked = has_memory_hooks();
  const Blocks blocks(allocator.get(), stream);
  Chunk* chunk = nullptr;
  if (!hooked && !allocator) {
    chunk = take_block(blocks, request, stream.device());
  } else {
    const Reservation reservation{request, stream};
    const ReservationScope scope(reservation);
    chunk = hooked ? take_block_with_hooks(blocks, request, stream.device())
                   : take_block(blocks, request, stream.device());
  }
  BufferRef out(new Buffer(stream.state(), chunk->pointer, bytes, chunk));
  poison(*out, stream);
  return out;
}

void poison(const Buffer& buffer, const Stream& stream) {
  if (poisons()) fill(buffer.pointer(), 0xff, buffer.bytes(), stream);
}

BufferRef borrow(void* pointer, std::size_t bytes, const Stream& stream,
                 std::function<void()> on_release, bool overwritable) {
  auto* buffer = new Buffer(stream.state(), pointer, bytes, nullptr);
  buffer->overwritable_ = overwritable;
  buffer->on_release_ = on_release ? std::move(on_release) : [] {};
  return BufferRef(buffer);
}

MemoryPool& pool_of(Device device) {
  static constinit PerDevice<DevicePool> pools;
  return pools.of(device, [&] { return make_default_pool(device); }).pool;
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
