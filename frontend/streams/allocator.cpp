#include "heddle/allocator.h"

#include <memory>
#include <string>
#include <utility>

#include "heddle/error.h"

#include "frontend/streams/allocator_access.h"
#include "frontend/streams/recorded.h"
#include "runtime/device/allocator.h"
#include "runtime/device/device.h"
#include "runtime/device/memory_hooks.h"

namespace heddle {

namespace {

/// A user's source as the runtime calls it.
class UserSource final : public runtime::MemorySource {
 public:
  explicit UserSource(std::shared_ptr<heddle::MemorySource> source) : source_(std::move(source)) {}
  void* reserve(runtime::Device device, std::size_t bytes, const runtime::Stream&) override {
    return source_->reserve(runtime::to_string(device), bytes);
  }
  void release(runtime::Device device, void* pointer, std::size_t bytes) noexcept override {
    source_->release(runtime::to_string(device), pointer, bytes);
  }

 private:
  std::shared_ptr<heddle::MemorySource> source_;
};

std::shared_ptr<runtime::MemorySource> source_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::managed:
      return runtime::source_of(runtime::MemoryKind::managed);
    case MemoryKind::ordered:
      return runtime::source_of(runtime::MemoryKind::ordered);
    case MemoryKind::device:
      break;
  }
  return runtime::source_of(runtime::MemoryKind::device);
}

std::shared_ptr<runtime::MemorySource> source_of(std::shared_ptr<MemorySource> source) {
  if (!source) throw ValueError("MemoryAllocator: the source is null");
  return std::make_shared<UserSource>(std::move(source));
}

runtime::Device device_named(const std::string& name) {
  const runtime::Device device = runtime::parse_device(name);
  runtime::require_device(device);
  return device;
}

/// A user's hook as the runtime calls it.
class UserHook final : public runtime::MemoryHook {
 public:
  explicit UserHook(std::shared_ptr<heddle::MemoryHook> hook) : hook_(std::move(hook)) {}

  void notify(runtime::MemoryStep step, const runtime::MemoryEvent& of) override {
    const heddle::MemoryEvent event{.device = runtime::to_string(of.device),
                                    .requested = of.requested,
                                    .bytes = of.bytes,
                                    .pointer = of.pointer,
                                    .block = of.block,
                                    .label = of.label ? *of.label : std::string(),
                                    .file = of.line.file != nullptr ? of.line.file : "",
                                    .line = of.line.line};
    switch (step) {
      case runtime::MemoryStep::before_allocate:
        return hook_->before_allocate(event);
      case runtime::MemoryStep::after_allocate:
        return hook_->after_allocate(event);
      case runtime::MemoryStep::before_reserve:
        return hook_->before_reserve(event);
      case runtime::MemoryStep::after_reserve:
        return hook_->after_reserve(event);
      case runtime::MemoryStep::before_free:
        return hook_->before_free(event);
      case runtime::MemoryStep::after_free:
        return hook_->after_free(event);
    }
  }

 private:
  std::shared_ptr<heddle::MemoryHook> hook_;
};

}  // namespace

MemoryAllocator::MemoryAllocator(std::shared_ptr<runtime::Allocator> allocator)
    : allocator_(std::move(allocator)) {}

MemoryAllocator MemoryAllocator::pool(MemoryKind kind) {
  return MemoryAllocator(runtime::Allocator::pooled(source_of(kind)));
}

MemoryAllocator MemoryAllocator::pool(std::shared_ptr<MemorySource> source) {
  return MemoryAllocator(runtime::Allocator::pooled(source_of(std::move(source))));
}

MemoryAllocator MemoryAllocator::direct(MemoryKind kind) {
  return MemoryAllocator(runtime::Allocator::direct(source_of(kind)));
}

MemoryAllocator MemoryAllocator::direct(std::shared_ptr<MemorySource> source) {
  return MemoryAllocator(runtime::Allocator::direct(source_of(std::move(source))));
}

MemoryStatistics MemoryAllocator::statistics(const std::string& of) const {
  const runtime::Device device = device_named(of);
  const runtime::MemoryStatistics numbers = allocator_->statistics(device);
  MemoryStatistics out{.in_use = numbers.in_use,
                       .reserved = numbers.reserved,
                       .peak_in_use = numbers.peak_in_use,
                       .peak_reserved = numbers.peak_reserved,
                       .blocks = numbers.blocks,
                       .allocations = numbers.allocations,
                       .reservations = numbers.reservations};
  if (const runtime::MemoryPool* const pool = allocator_->pool(device)) {
    out.largest_free = pool->largest_free();
    out.free_blocks = pool->free_blocks();
    out.limit = pool->limit();
  }
  return out;
}

std::size_t MemoryAllocator::set_limit(std::size_t bytes, const std::string& of) const {
  runtime::MemoryPool* const pool = allocator_->pool(device_named(of));
  if (pool == nullptr)
    throw ValueError("set_limit: this allocator has no pool; make it by MemoryAllocator::pool");
  return pool->set_limit(bytes);
}

std::size_t MemoryAllocator::trim(const std::string& of) const {
  return allocator_->trim(device_named(of), true);
}

void set_allocator(const MemoryAllocator& allocator) {
  frontend::evaluate_recorded("set_allocator");
  runtime::set_allocator(AllocatorAccess::of(allocator));
}

void reset_allocator() {
  frontend::evaluate_recorded("reset_allocator");
  runtime::set_allocator(nullptr);
}

struct AllocatorScope::Scope {
  explicit Scope(const MemoryAllocator& allocator) : scope(AllocatorAccess::of(allocator)) {}
  runtime::AllocatorScope scope;
};

AllocatorScope::AllocatorScope(const MemoryAllocator& allocator) {
  frontend::evaluate_recorded("AllocatorScope");
  scope_ = std::make_unique<Scope>(allocator);
}

AllocatorScope::~AllocatorScope() { frontend::try_evaluate_recorded(); }

MemoryHookScope::MemoryHookScope(std::shared_ptr<MemoryHook> hook) : number_(0) {
  if (!hook) throw ValueError("MemoryHookScope: the hook is null");
  frontend::evaluate_recorded("MemoryHookScope");
  number_ = runtime::add_memory_hook(std::make_shared<UserHook>(std::move(hook)));
}

MemoryHookScope::~MemoryHookScope() {
  frontend::try_evaluate_recorded();
  runtime::remove_memory_hook(number_);
}

}  // namespace heddle
