#include "ir/base/span.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/base/fork_gate.h"

namespace heddle::ir {

namespace detail {
std::atomic<std::uint32_t> watched{0};
}  // namespace detail

namespace {

using Watchers = std::vector<std::shared_ptr<SpanWatcher>>;
using detail::any_spans, detail::kernel_spans;

/// Never destroyed: spans may end during process exit.
struct Registry {
  Mutex mutex;
  Watchers watchers;

  void update() {
    std::uint32_t bits = 0;
    for (const auto& each : watchers)
      bits |= any_spans | (each->wants_kernels() ? kernel_spans : 0);
    detail::watched.store(bits, std::memory_order_relaxed);
  }
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

Watchers current_watchers() {
  const std::lock_guard lock(registry().mutex);
  return registry().watchers;
}

/// A span that has not ended.
struct OpenSpan : SpanData {
  OpenSpan* outer = nullptr;  ///< the enclosing span on this thread
  Watchers watchers;          ///< watchers that were told of its beginning
};
thread_local OpenSpan* innermost = nullptr;

template <class Tell>
void tell(const Watchers& watchers, const Tell& one) {
  for (const auto& watcher : watchers) {
    try {
      one(*watcher);
    } catch (const std::exception&) {
      continue;
    }
  }
}

}  // namespace

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, phase_count> names = {
      "trace", "pass", "codegen", "compile", "load", "allocate", "launch", "kernel", "range"};
  return names[static_cast<std::size_t>(phase)];
}

void add_watcher(std::shared_ptr<SpanWatcher> watcher) {
  const std::lock_guard lock(registry().mutex);
  registry().watchers.push_back(std::move(watcher));
  registry().update();
}

void remove_watcher(const SpanWatcher* watcher) {
  std::shared_ptr<SpanWatcher> last;  // destroyed after the lock is released
  const std::lock_guard lock(registry().mutex);
  Watchers& all = registry().watchers;
  const auto found = std::ranges::find(all, watcher, &std::shared_ptr<SpanWatcher>::get);
  if (found == all.end()) return;
  last = std::move(*found);
  all.erase(found);
  registry().update();
}

std::uint32_t thread_number() {
  static std::atomic<std::uint32_t> next{0};
  thread_local const std::uint32_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// A span is not reported if there is no memory for it.
void Span::begin(Phase phase, std::string_view name) noexcept try {
  if (phase == Phase::kernel && !kernels_watched()) return;
  auto open = std::make_unique<OpenSpan>();
  open->phase = phase;
  open->name = name;
  open->thread = thread_number();
  open->watchers = current_watchers();
  open->outer = std::exchange(innermost, open.get());
  data_ = open.get();
  open->start = SpanData::Clock::now();
  tell(open->watchers, [&](SpanWatcher& watcher) { watcher.begin(*open); });
  static_cast<void>(open.release());  // end() deletes it
} catch (const std::exception&) {
  return;
}

void Span::end() noexcept {
  const std::unique_ptr<OpenSpan> open(static_cast<OpenSpan*>(data_));
  open->end = SpanData::Clock::now();
  // Spans of a user may end in another order than they nest.
  OpenSpan** link = &innermost;
  while (*link != nullptr && *link != open.get()) link = &(*link)->outer;
  if (*link != nullptr) *link = open->outer;
  if (open->outer != nullptr) open->outer->inner += open->end - open->start;
  tell(open->watchers, [&](SpanWatcher& watcher) { watcher.end(*open); });
}

}  // namespace heddle::ir
