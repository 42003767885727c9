#include "runtime/device/allocator.h"

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/device_pool.h"
#include "runtime/device/pool_arena.h"

namespace heddle::runtime {

namespace {

class PooledAllocator final : public Allocator {
 public:
  explicit PooledAllocator(std::shared_ptr<MemorySource> source) : source_(std::move(source)) {}

  ~PooledAllocator() override {
    for (auto& [device, pool] : pools_) {
      try {
        if (!backend_of(device.kind).unusable()) pool->pool.trim(true);
      } catch (const std::exception&) {
        // The device has failed. Its memory is released without a wait.
      }
    }
  }

  Chunk* allocate(const BlockRequest& request, const Stream& stream) override {
    return held(pool(stream.device())->allocate(request, stream.state()));
  }
  Chunk* borrow(const BlockRequest& request, const Stream& stream) override {
    return held(pool(stream.device())->borrow(request, stream.state()));
  }
  void free(Chunk* chunk, Device device, std::span<StreamState* const> users) noexcept override {
    pool(device)->free(chunk, users);
    std::shared_ptr<Allocator> last;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    if (--held_ == 0) last = std::move(self_);
  }
  void describe(Chunk* chunk, const Label& label, ir::Location line) override {
    pool(chunk->segment->arena->stream->device)->describe(chunk, label, line);
  }
  std::size_t trim(Device device, bool wait) override { return pool(device)->trim(wait); }
  MemoryStatistics statistics(Device device) const override {
    return const_cast<PooledAllocator*>(this)->pool(device)->statistics();
  }

  MemoryPool* pool(Device device) override {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<DevicePool>& made = pools_[device];
    if (!made) made = std::make_unique<DevicePool>(device, source_, this);
    return &made->pool;
  }

 private:
  struct Order {
    bool operator()(const Device& a, const Device& b) const {
      return std::pair(a.kind, a.ordinal) < std::pair(b.kind, b.ordinal);
    }
  };

  /// Counts a block, for whose sake the allocator lives on.
  Chunk* held(Chunk* chunk) {
    if (chunk == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    if (held_++ == 0) self_ = shared_from_this();
    return chunk;
  }

  std::shared_ptr<MemorySource> source_;
  ir::Mutex mutex_;  ///< guards what follows
  std::map<Device, std::unique_ptr<DevicePool>, Order> pools_;
  std::size_t held_ = 0;  ///< number of held blocks
  std::shared_ptr<Allocator> self_;
};

/// The number of set_allocator() calls and scopes that are in effect.
constinit std::atomic<int> replaced{0};

struct Global {
  ir::Mutex mutex;
  std::shared_ptr<Allocator> allocator;
};
Global& global() {
  static auto* const instance = new Global;
  return *instance;
}

/// The allocators of the scopes that this thread is in, the innermost last.
std::vector<std::shared_ptr<Allocator>>& scopes() {
  return per_thread<std::vector<std::shared_ptr<Allocator>>>();
}

}  // namespace

std::shared_ptr<Allocator> Allocator::pooled(std::shared_ptr<MemorySource> source) {
  return std::make_shared<PooledAllocator>(std::move(source));
}

void set_allocator(std::shared_ptr<Allocator> allocator) {
  {
    const std::lock_guard lock(global().mutex);
    const int change = (allocator ? 1 : 0) - (global().allocator ? 1 : 0);
    replaced.fetch_add(change, std::memory_order_relaxed);
    std::swap(global().allocator, allocator);
  }
  allocator.reset();  // the previous one, without the lock
}

std::shared_ptr<Allocator> global_allocator() {
  const std::lock_guard lock(global().mutex);
  return global().allocator;
}

AllocatorScope::AllocatorScope(std::shared_ptr<Allocator> allocator) {
  scopes().push_back(std::move(allocator));
  replaced.fetch_add(1, std::memory_order_relaxed);
}

AllocatorScope::~AllocatorScope() {
  replaced.fetch_sub(1, std::memory_order_relaxed);
  const std::shared_ptr<Allocator> ended = std::move(scopes().back());
  scopes().pop_back();
}

bool in_allocator_scope() { return !scopes().empty(); }

std::shared_ptr<Allocator> current_allocator() {
  if (replaced.load(std::memory_order_relaxed) == 0) return nullptr;
  return scopes().empty() ? global_allocator() : scopes().back();
}

}  // namespace heddle::runtime
