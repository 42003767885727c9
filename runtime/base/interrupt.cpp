#include "runtime/base/interrupt.h"

#include <algorithm>
#include <atomic>
#include <ctime>

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

namespace {

using std::chrono::nanoseconds;

constinit thread_local detail::RunState run_state;

constexpr int longest_stride = 16;
constexpr std::chrono::milliseconds slow{5};  // more than the clock's resolution

/// A clock of some milliseconds that is read in few nanoseconds.
nanoseconds coarse_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

/// Reads the clock, and calls the hook if it is time.
void look(detail::RunState& run) {
  const nanoseconds now = coarse_now();
  const bool are_slow = run.checked && now - run.looked > slow;
  if (!run.checked) run.checked = now;
  run.stride = are_slow ? 1 : std::min(run.stride * 2, longest_stride);
  run.left = run.stride;
  run.looked = now;
  if (now - *run.checked < InterruptibleRun::interval) return;
  {
    const InterruptibleRun not_in_the_hook(false);
    const ir::ForkPause pause;
    check_interrupt();
  }
  run.checked = run.looked = coarse_now();
}

}  // namespace

InterruptibleRun::InterruptibleRun(bool allowed) : before_(run_state) {
  run_state = {};
  run_state.allowed = allowed;
}
InterruptibleRun::~InterruptibleRun() { run_state = before_; }

void interruptible_step() {
  if (run_state.allowed && --run_state.left <= 0) look(run_state);
}

void interruptible_piece() {
  if (run_state.allowed) look(run_state);
}

InterruptibleWait::InterruptibleWait() { waits.fetch_add(1); }
InterruptibleWait::~InterruptibleWait() { waits.fetch_sub(1); }
bool InterruptibleWait::any() noexcept { return waits.load() > 0; }

}  // namespace heddle::runtime
