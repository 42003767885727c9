#include "runtime/device/memory_hooks.h"

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"

namespace heddle::runtime {

namespace {

struct Hooks {
  ir::Mutex mutex;
  std::map<int, std::shared_ptr<MemoryHook>> all;
  int next = 0;
};

Hooks& hooks() {
  static auto* const instance = new Hooks;
  return *instance;
}

constinit std::atomic<int> hook_count{0};
constinit thread_local bool in_hook = false;

/// Marks this thread as being in a hook.
class HookScope {
 public:
  HookScope() { in_hook = true; }
  ~HookScope() { in_hook = false; }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;
};

}  // namespace

int add_memory_hook(std::shared_ptr<MemoryHook> hook) {
  Hooks& own = hooks();
  const std::lock_guard lock(own.mutex);
  own.all.emplace(own.next, std::move(hook));
  hook_count.store(static_cast<int>(own.all.size()), std::memory_order_relaxed);
  return own.next++;
}

void remove_memory_hook(int number) {
  std::shared_ptr<MemoryHook> removed;  // destroyed without the lock
  Hooks& own = hooks();
  const std::lock_guard lock(own.mutex);
  const auto found = own.all.find(number);
  if (found == own.all.end()) return;
  removed = std::move(found->second);
  own.all.erase(found);
  hook_count.store(static_cast<int>(own.all.size()), std::memory_order_relaxed);
}

bool has_memory_hooks() noexcept {
  return hook_count.load(std::memory_order_relaxed) != 0 && !in_hook;
}

void call_memory_hooks(MemoryStep step, const MemoryEvent& event) {
  const ir::ForkPause pause;
  std::map<int, std::shared_ptr<MemoryHook>> all;
  {
    Hooks& own = hooks();
    const std::lock_guard lock(own.mutex);
    all = own.all;
  }
  const HookScope scope;
  for (const auto& [number, hook] : all) hook->notify(step, event);
}

void detail::notify_of_free(MemoryStep step, const MemoryEvent& event) noexcept {
  try {
    call_memory_hooks(step, event);
  } catch (const std::exception& failure) {
    log().error("a memory hook failed at the freeing of {} bytes: {}", event.bytes, failure.what());
  }
}

void detail::notify_of_free_later(const MemoryEvent& event) noexcept {
  ir::outside_fork_sections([event] {
    notify_of_free(MemoryStep::before_free, event);
    notify_of_free(MemoryStep::after_free, event);
  });
}

}  // namespace heddle::runtime
