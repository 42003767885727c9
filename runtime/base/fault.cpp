#include "runtime/base/fault.h"

#include <array>
#include <cstddef>

namespace heddle::runtime::fault {

namespace detail {
std::atomic<bool> watching{false};
}  // namespace detail

namespace {

struct Counter {
  std::atomic<bool> armed{false};
  std::atomic<std::int64_t> passed{0};
  std::atomic<std::int64_t> fail_at{-1};
};

std::array<Counter, kind_count> counters;

Counter& counter(Kind kind) { return counters[static_cast<std::size_t>(kind)]; }

void update_watching() {
  bool any = false;
  for (const Counter& each : counters) any = any || each.armed.load();
  detail::watching.store(any);
}

}  // namespace

bool detail::hit(Kind kind) {
  Counter& own = counter(kind);
  if (!own.armed.load()) return false;
  return own.passed.fetch_add(1) == own.fail_at.load();
}

Watch::Watch(Kind kind, std::int64_t fail_at) : kind_(kind) {
  Counter& own = counter(kind);
  own.passed.store(0);
  own.fail_at.store(fail_at);
  own.armed.store(true);
  update_watching();
}

Watch::~Watch() {
  counter(kind_).armed.store(false);
  update_watching();
}

std::int64_t Watch::count() const { return counter(kind_).passed.load(); }

bool Watch::fired() const {
  const Counter& own = counter(kind_);
  return own.fail_at.load() >= 0 && own.passed.load() > own.fail_at.load();
}

}  // namespace heddle::runtime::fault
