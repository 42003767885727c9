#include "frontend/evaluate/checks.h"

#include <algorithm>
#include <atomic>
#include <deque>
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

/// Removes and returns the first element that satisfies `wanted`.
template <class Wanted>
std::optional<Waiting> take(const Wanted& wanted) {
  const std::lock_guard lock(all().mutex);
  const auto found = std::ranges::find_if(all().waiting, wanted);
  if (found == all().waiting.end()) return std::nullopt;
  Waiting taken = std::move(*found);
  all().waiting.erase(found);
  all().count.store(all().waiting.size(), std::memory_order_relaxed);
  return taken;
}

void put(Waiting waiting) {
  const std::lock_guard lock(all().mutex);
  all().waiting.push_back(std::move(waiting));
  all().count.store(all().waiting.size(), std::memory_order_relaxed);
}

std::optional<std::string> failure_of(const Check& check) {
  evaluate(check.status);
  std::int64_t item = -1;
  download_to(*check.status, &item);
  if (item < 0) return std::nullopt;
  return (*check.message)(item);
}

[[noreturn]] void raise(FailureKind kind, const std::string& message) {
  if (kind == FailureKind::index) throw IndexError(message);
  throw LinAlgError(message);
}

/// The oldest unread status of a thread.
std::optional<Check> oldest_unread(const Thread* thread) {
  const std::lock_guard lock(all().mutex);
  const auto found = std::ranges::find_if(all().waiting, [&](const Waiting& each) {
    return each.thread == thread && !each.failure.has_value();
  });
  return found == all().waiting.end() ? std::nullopt : std::optional(found->check);
}

/// Reads the older half of a thread's statuses. Failures keep their position; successes are
/// removed.
void read_ahead(const Thread* thread) {
  for (std::size_t i = 0; i < most_unread / 2; ++i) {
    const std::optional<Check> oldest = oldest_unread(thread);
    if (!oldest) return;
    const std::optional<std::string> failure = failure_of(*oldest);
    const auto is_it = [&](const Waiting& each) { return each.check.status == oldest->status; };
    if (!failure) {
      take(is_it);
      continue;
    }
    const std::lock_guard lock(all().mutex);
    const auto found = std::ranges::find_if(all().waiting, is_it);
    if (found != all().waiting.end()) found->failure = failure;
  }
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
  if (const std::optional<std::string> failure = failure_of(check)) raise(check.kind, *failure);
}

void check_later(Check check, std::vector<const Node*> results) {
  Thread& thread = this_thread();
  put({std::move(check), {}, std::move(results), &thread});
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
  const auto awaited = [&](const Waiting& each) { return is_awaited(each, read); };
  while (std::optional<Waiting> next = take(awaited)) {
    if (!next->failure) next->failure = failure_of(next->check);
    if (!next->failure) continue;
    const std::lock_guard lock(all().mutex);
    all().waiting.push_front(*std::move(next));
    all().count.store(all().waiting.size(), std::memory_order_relaxed);
    return true;
  }
  return false;
}

void raise_failures(const NodeRef& read) {
  runtime::settle_communication();
  if (all().count.load(std::memory_order_relaxed) == 0) return;
  const auto awaited = [&](const Waiting& each) { return is_awaited(each, read); };
  while (const std::optional<Waiting> next = take(awaited)) {
    const std::optional<std::string> failure =
        next->failure ? next->failure : failure_of(next->check);
    if (failure) raise(next->check.kind, *failure);
  }
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
