#include "runtime/base/interrupt.h"

#include <atomic>

namespace heddle::runtime {

namespace {

std::atomic<InterruptHook> the_hook{nullptr};
std::atomic<const WaitHooks*> the_wait_hooks{nullptr};
std::atomic<int> waits{0};

}  // namespace

void set_interrupt_hook(InterruptHook hook) { the_hook.store(hook); }

void check_interrupt() {
  const InterruptHook hook = the_hook.load();
  if (hook == nullptr || ir::in_fork_section()) return;
  if (std::exception_ptr cause = hook()) throw Interrupted(std::move(cause));
}

void set_wait_hooks(const WaitHooks* hooks) { the_wait_hooks.store(hooks); }

void* detail::begin_wait() {
  const WaitHooks* const hooks = the_wait_hooks.load();
  return hooks == nullptr || ir::in_fork_section() ? nullptr : hooks->begin();
}

void detail::end_wait(void* released) {
  if (released != nullptr) the_wait_hooks.load()->end(released);
}

InterruptibleWait::InterruptibleWait() { waits.fetch_add(1); }
InterruptibleWait::~InterruptibleWait() { waits.fetch_sub(1); }
bool InterruptibleWait::any() noexcept { return waits.load() > 0; }

}  // namespace heddle::runtime
