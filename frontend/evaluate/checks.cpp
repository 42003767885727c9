#include "frontend/evaluate/checks.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
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

void put(Waiting waiting) {
  const std::lock_guard lock(all().mutex);
  all().waiting.push_back(std::move(waiting));
  all().count.store(all().waiting.size(), std::memory_order_relaxed);
}

/// What reading a status has shown, by status: the text of a failure, or nothing.
using Findings = std::unordered_map<const Node*, std::optional<std::string>>;

/// Enters what was found. Failures keep their places; elements without one are removed.
void settle(const Findings& findings) {
  const std::lock_guard lock(all().mutex);
  std::erase_if(all().waiting, [&](Waiting& each) {
    const auto found = findings.find(each.check.status.get());
    if (found == findings.end() || each.failure) return false;
    each.failure = found->second;
    return !each.failure;
  });
  all().count.store(all().waiting.size(), std::memory_order_relaxed);
}

/// The first `most` unread checks that satisfy `wanted`, in the order of the calls.
template <class Wanted>
std::vector<Check> unread(const Wanted& wanted, std::size_t most) {
  std::vector<Check> checks;
  const std::lock_guard lock(all().mutex);
  for (const Waiting& each : all().waiting) {
    if (checks.size() == most) break;
    if (!each.failure && wanted(each)) checks.push_back(each.check);
  }
  return checks;
}

/// A status that cannot be computed is given up: the error is thrown once.
void evaluate_status(const NodeRef& status) {
  try {
    evaluate(status);
  } catch (const Error&) {
    settle({{status.get(), std::nullopt}});
    throw;
  }
}

/// The same for what a lost device has computed. While a graph is captured, nothing can be read.
std::vector<std::int64_t> read_statuses(const std::vector<NodeRef>& statuses) {
  try {
    return download_integers(statuses);
  } catch (const DeviceError&) {
    Findings lost;
    for (const NodeRef& status : statuses) lost[status.get()] = std::nullopt;
    if (!is_captured(runtime::current_device())) settle(lost);
    throw;
  }
}

/// Reads the first `most` unread statuses that satisfy `wanted`, with one wait. The elements stay
/// in their places meanwhile: other threads may await them, too.
template <class Wanted>
void read(const Wanted& wanted, std::size_t most = SIZE_MAX) {
  const std::vector<Check> checks = unread(wanted, most);
  std::vector<NodeRef> statuses;
  for (const Check& check : checks) {
    evaluate_status(check.status);
    statuses.push_back(check.status);
  }
  const std::vector<std::int64_t> items = read_statuses(statuses);
  Findings findings;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    std::optional<std::string>& failure = findings[statuses[i].get()];
    if (items[i] >= 0) failure = (*checks[i].message)(items[i]);
  }
  settle(findings);
}

/// Removes and returns the first failure that satisfies `wanted`.
template <class Wanted>
std::optional<Waiting> take_failure(const Wanted& wanted) {
  const std::lock_guard lock(all().mutex);
  const auto found = std::ranges::find_if(
      all().waiting, [&](const Waiting& each) { return each.failure && wanted(each); });
  if (found == all().waiting.end()) return std::nullopt;
  Waiting taken = std::move(*found);
  all().waiting.erase(found);
  all().count.store(all().waiting.size(), std::memory_order_relaxed);
  return taken;
}

[[noreturn]] void raise(FailureKind kind, const std::string& message) {
  if (kind == FailureKind::index) throw IndexError(message);
  throw LinAlgError(message);
}

/// Reads the older half of a thread's statuses.
void read_ahead(const Thread* thread) {
  read([&](const Waiting& each) { return each.thread == thread; }, most_unread / 2);
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

bool has_failures(const NodeRef& array) {
  if (all().count.load(std::memory_order_relaxed) == 0) return false;
  const auto awaited = [&](const Waiting& each) { return is_awaited(each, array); };
  read(awaited);
  const std::lock_guard lock(all().mutex);
  return std::ranges::any_of(all().waiting,
                             [&](const Waiting& each) { return each.failure && awaited(each); });
}

void raise_failures(const NodeRef& array) {
  runtime::settle_communication();
  if (all().count.load(std::memory_order_relaxed) == 0) return;
  const auto awaited = [&](const Waiting& each) { return is_awaited(each, array); };
  read(awaited);
  if (const std::optional<Waiting> first = take_failure(awaited))
    raise(first->check.kind, *first->failure);
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
