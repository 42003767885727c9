#include "frontend/evaluate/checks.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "heddle/error.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/stream.h"
#include "runtime/libraries/communicator.h"

namespace heddle::frontend {

namespace {

struct Waiting {
  Check check;
  std::optional<std::string> failure = {};  ///< result of a status that was already read
  std::vector<const Node*> results = {};
  const void* thread = nullptr;  ///< null: the thread has ended
};

/// Unread statuses of all threads, in the order of the calls.
struct Checks {
  ir::Mutex mutex;
  std::deque<Waiting> waiting;
  std::atomic<std::size_t> count{0};  ///< the size of `waiting`, read without the mutex
};

Checks& all() {
  static auto* const checks = new Checks;
  return *checks;
}

/// The address of this object identifies the thread.
struct Thread {
  std::size_t unread = 0;  ///< checks since statuses were last read ahead
  ~Thread() {
    const std::lock_guard lock(all().mutex);
    for (Waiting& each : all().waiting) {
      if (each.thread == this) each.thread = nullptr;
    }
  }
};

Thread& this_thread() { return runtime::per_thread<Thread>(); }

/// A thread with more unread statuses than this reads the older half of them.
constexpr std::size_t most_unread = 1024;

/// Removes and returns the elements that satisfy `wanted`, in their order.
template <class Wanted>
std::vector<Waiting> take(Wanted wanted) {
  const std::lock_guard lock(all().mutex);
  std::deque<Waiting>& waiting = all().waiting;
  const auto taken_begin = std::stable_partition(
      waiting.begin(), waiting.end(), [&](const Waiting& each) { return !wanted(each); });
  std::vector<Waiting> taken(std::make_move_iterator(taken_begin),
                             std::make_move_iterator(waiting.end()));
  waiting.erase(taken_begin, waiting.end());
  all().count.store(waiting.size(), std::memory_order_relaxed);
  return taken;
}

/// Inserts the elements behind all others, or before them.
void put(std::vector<Waiting> added, bool first) {
  const std::lock_guard lock(all().mutex);
  std::deque<Waiting>& waiting = all().waiting;
  waiting.insert(first ? waiting.begin() : waiting.end(), std::make_move_iterator(added.begin()),
                 std::make_move_iterator(added.end()));
  all().count.store(waiting.size(), std::memory_order_relaxed);
}

/// Reads the statuses that were not read, with one wait, and removes those without a failure. An
/// element whose status cannot be computed is removed, too, and the error thrown.
void read(std::vector<Waiting>& waiting) {
  std::vector<NodeRef> statuses;
  for (auto each = waiting.begin(); each != waiting.end(); ++each) {
    if (each->failure) continue;
    try {
      evaluate(each->check.status);
    } catch (...) {
      waiting.erase(each);
      throw;
    }
    statuses.push_back(each->check.status);
  }
  const std::vector<std::int64_t> items = download_integers(statuses);
  auto item = items.begin();
  for (Waiting& each : waiting) {
    if (each.failure) continue;
    if (*item >= 0) each.failure = (*each.check.message)(*item);
    ++item;
  }
  std::erase_if(waiting, [](const Waiting& each) { return !each.failure; });
}

/// Removes the elements that satisfy `wanted`, reads their statuses, and returns those that failed,
/// in the order of the calls. If that throws, the elements go back, unless a device is lost.
template <class Wanted>
std::vector<Waiting> take_failures(Wanted wanted) {
  std::vector<Waiting> taken = take(std::move(wanted));
  try {
    read(taken);
  } catch (const DeviceError&) {
    // What a lost device has computed is lost; while a graph is captured, nothing can be read.
    if (is_captured(runtime::current_device())) put(std::move(taken), true);
    throw;
  } catch (...) {
    put(std::move(taken), true);
    throw;
  }
  return taken;
}

[[noreturn]] void raise(FailureKind kind, const std::string& message) {
  if (kind == FailureKind::index) throw IndexError(message);
  throw LinAlgError(message);
}

/// Reads the older half of a thread's statuses. Older failures are taken with them to keep the
/// order.
void read_ahead(const Thread* thread) {
  std::size_t left = most_unread / 2;
  put(take_failures([&](const Waiting& each) {
        if (each.thread != thread || left == 0) return false;
        if (!each.failure) --left;
        return true;
      }),
      true);
}

}  // namespace

void check_recorded(const char* what, Check check, std::vector<NodeRef> values, RaiseFailure raised,
                    const SourceLocation& where) {
  if (Trace* const trace = Trace::current()) return trace->add_check(std::move(check));
  if (is_captured(runtime::current_device())) return;
  if (raised == RaiseFailure::at_next_wait) return check_later(std::move(check));
  require_waiting(what, where);
  values.push_back(check.status);
  evaluate(values);
  const std::int64_t item = download_integers({check.status}).front();
  if (item >= 0) raise(check.kind, (*check.message)(item));
}

void check_later(Check check, std::vector<const Node*> results) {
  Thread& thread = this_thread();
  put({{std::move(check), {}, std::move(results), &thread}}, false);
  if (++thread.unread < most_unread || waiting_forbidden()) return;
  thread.unread = most_unread / 2;
  read_ahead(&thread);
}

namespace {

/// True if a wait of this thread, or reading `read`, must check this status.
bool is_awaited(const Waiting& waiting, const NodeRef& read) {
  return waiting.thread == &this_thread() || waiting.thread == nullptr ||
         (read && std::ranges::find(waiting.results, read.get()) != waiting.results.end());
}

}  // namespace

void evaluate_with_statuses(const NodeRef& node) {
  std::vector<NodeRef> wanted = pending_statuses();
  if (wanted.empty()) return evaluate(node);
  wanted.push_back(node);
  try {
    evaluate(wanted);
  } catch (const Error&) {
    evaluate(node);
  }
}

bool has_failures(const NodeRef& read) {
  if (all().count.load(std::memory_order_relaxed) == 0) return false;
  std::vector<Waiting> failures =
      take_failures([&](const Waiting& each) { return is_awaited(each, read); });
  if (failures.empty()) return false;
  put(std::move(failures), true);
  return true;
}

void raise_failures(const NodeRef& read) {
  runtime::settle_communication();
  if (all().count.load(std::memory_order_relaxed) == 0) return;
  std::vector<Waiting> failures =
      take_failures([&](const Waiting& each) { return is_awaited(each, read); });
  if (failures.empty()) return;
  const Waiting first = std::move(failures.front());
  failures.erase(failures.begin());
  put(std::move(failures), true);
  raise(first.check.kind, *first.failure);
}

std::vector<NodeRef> pending_statuses() {
  std::vector<NodeRef> statuses;
  if (all().count.load(std::memory_order_relaxed) == 0) return statuses;
  const Thread& thread = this_thread();
  const std::lock_guard lock(all().mutex);
  for (const Waiting& each : all().waiting) {
    if (each.thread == &thread && !each.failure && !each.check.status->evaluated())
      statuses.push_back(each.check.status);
  }
  return statuses;
}

bool is_captured(runtime::Device device) { return runtime::Stream::current(device).capturing(); }

}  // namespace heddle::frontend
