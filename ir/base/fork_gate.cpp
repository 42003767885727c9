#include "ir/base/fork_gate.h"

#include <array>
#include <chrono>
#include <climits>
#include <ctime>
#include <new>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <linux/futex.h>
#include <linux/membarrier.h>

namespace heddle::ir {

namespace detail {
constinit Gate gate;
}  // namespace detail

namespace {

using detail::Gate, detail::gate, detail::SectionState;

constinit std::mutex forking;   ///< held by the forking thread from before_fork() until after the
                                ///< fork
thread_local int closings = 0;  ///< calls of before_fork() for this thread's current fork

constexpr std::size_t most_functions = 16;
constinit std::array<std::atomic<void (*)()>, most_functions> in_child{};
constinit std::atomic<std::size_t> in_child_count{0};

bool membarrier(int command) { return syscall(__NR_membarrier, command, 0, 0) == 0; }

/// After this fence, every other thread either sees the gate closed, or is seen to be in a section.
void fence_all_threads() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((gate.guard.load() & Gate::fences) == 0) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void wait_until_outside(const SectionState& other) {
  constexpr int busy_turns = 100;
  for (int turn = 0; other.depth() != 0; ++turn) {
    if (turn < busy_turns) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void before_fork() {
  if (closings++ > 0) return;
  // If this thread is in a section, it does not wait: another thread in a section may need a lock
  // that this thread holds, and that thread may be forking too. The child only calls exec then, so
  // locks that stay locked in it do no harm.
  if (in_fork_section()) return;
  forking.lock();
  gate.guard.fetch_or(Gate::closed);
  fence_all_threads();
  for (const SectionState* each = gate.all.load(); each != nullptr; each = each->next) {
    if (each != detail::presence) wait_until_outside(*each);
  }
}

void open_gate() {
  gate.guard.fetch_and(~Gate::closed);
  gate.guard.notify_all();
}

void after_fork_in_parent() {
  if (--closings > 0 || in_fork_section()) return;
  open_gate();
  forking.unlock();
}

void after_fork_in_child() {
  if (--closings > 0) return;
  gate.generation.fetch_add(1);
  if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) gate.guard.fetch_or(Gate::fences);
  for (SectionState* each = gate.all.load(); each != nullptr; each = each->next) {
    if (each == detail::presence) continue;
    each->state.store(0);
    each->afterwards.clear();
    each->owned.store(false);
  }
  new (&forking) std::mutex;
  open_gate();
  for (const auto& each : in_child) {
    if (auto* const function = each.load()) function();
  }
}

void register_handlers() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/// Releases a thread's SectionState for reuse when the thread ends. A pthread key runs after the
/// destructors of thread_local objects, which may still enter sections. If no key can be created,
/// or at process exit, the SectionState is not released.
class PresenceKey {
 public:
  PresenceKey() : exists_(pthread_key_create(&key_, give_back) == 0) {}
  ~PresenceKey() {
    if (exists_.exchange(false)) pthread_key_delete(key_);
  }
  PresenceKey(const PresenceKey&) = delete;
  PresenceKey& operator=(const PresenceKey&) = delete;

  void give_back_at_end(SectionState* own) const {
    if (exists_) pthread_setspecific(key_, own);
  }

 private:
  static void give_back(void* own) {
    detail::presence = nullptr;
    static_cast<SectionState*>(own)->owned.store(false);
  }

  pthread_key_t key_{};
  std::atomic<bool> exists_;
};

SectionState* take_abandoned() {
  for (SectionState* each = gate.all.load(); each != nullptr; each = each->next) {
    bool owned = false;
    if (each->owned.compare_exchange_strong(owned, true)) return each;
  }
  return nullptr;
}

}  // namespace

SectionState& detail::add_presence() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) gate.guard.fetch_or(Gate::fences);
    register_handlers();
  });
  static const PresenceKey key;
  presence = take_abandoned();
  if (presence == nullptr) {
    presence = new SectionState;
    presence->next = gate.all.load();
    while (!gate.all.compare_exchange_weak(presence->next, presence)) {
    }
  }
  key.give_back_at_end(presence);
  return *presence;
}

void detail::pass_guard(SectionState& own) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t seen = gate.guard.load(); (seen & Gate::closed) != 0;
       seen = gate.guard.load()) {
    own.state.store(0, std::memory_order_release);
    gate.guard.wait(seen);
    own.state.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void detail::run_afterwards(SectionState& own) {
  const std::vector<std::function<void()>> functions = std::move(own.afterwards);
  own.afterwards.clear();
  own.state.store(0, std::memory_order_release);
  for (const std::function<void()>& each : functions) each();
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void Condition::notify_all() {
  count_.fetch_add(1);
  if (waiting_.load() == 0) return;
  syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

/// `limit` null: no time limit. The lock is held on entry, so that `seen` is read before the
/// awaited notification is counted. Returns whether a notification came.
bool Condition::wait_until_counted(std::unique_lock<Mutex>& lock, const timespec* limit) {
  const std::uint32_t seen = count_.load();
  waiting_.fetch_add(1);
  lock.unlock();
  syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, seen, limit, nullptr, 0);
  waiting_.fetch_sub(1);
  lock.lock();
  return count_.load() != seen;
}

void Condition::wait(std::unique_lock<Mutex>& lock) { wait_until_counted(lock, nullptr); }

bool Condition::wait_for(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const std::chrono::nanoseconds rest = time - seconds;
  const timespec limit{seconds.count(), rest.count()};
  return wait_until_counted(lock, &limit);
}

bool in_fork_section() { return detail::presence != nullptr && detail::presence->depth() != 0; }

SharedForkSection::SharedForkSection() {
  SectionState& own = detail::presence != nullptr ? *detail::presence : detail::add_presence();
  own.state.fetch_add(1);
}

ForkPause::ForkPause() : depth_(in_fork_section() ? detail::presence->depth() : 0) {
  if (depth_ == 0) return;
  detail::presence->state.fetch_sub(depth_ - 1);
  detail::leave_section();
}

ForkPause::~ForkPause() {
  if (depth_ == 0) return;
  detail::enter_section();
  detail::presence->state.fetch_add(depth_ - 1);
}

void outside_fork_sections(std::function<void()> function) {
  if (!in_fork_section()) return function();
  detail::presence->afterwards.push_back(std::move(function));
  detail::presence->state.fetch_or(SectionState::has_afterwards);
}

void in_forked_child(void (*function)()) { in_child.at(in_child_count++).store(function); }

void fork_after_sections() { register_handlers(); }

}  // namespace heddle::ir
