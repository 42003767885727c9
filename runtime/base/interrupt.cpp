#include "runtime/base/interrupt.h"

#include <atomic>

namespace heddle::runtime {

namespace {

std::atomic<InterruptHook> the_hook{nullptr};
std::atomic<int> waits{0};

}  // namespace

void set_interrupt_hook(InterruptHook hook) { the_hook.store(hook); }

void check_interrupt() {
  const InterruptHook hook = the_hook.load();
  if (hook == nullptr || ir::in_fork_section()) return;
  if (std::exception_ptr cause = hook()) throw Interrupted(std::move(cause));
}

InterruptibleWait::InterruptibleWait() { waits.fetch_add(1); }
InterruptibleWait::~InterruptibleWait() { waits.fetch_sub(1); }
bool InterruptibleWait::any() noexcept { return waits.load() > 0; }

}  // namespace heddle::runtime
