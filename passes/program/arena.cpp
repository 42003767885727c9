#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "passes/program/program.h"

namespace heddle::passes {

namespace {

constexpr std::int64_t alignment = 256;

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

using Temporaries = std::vector<Temporary>;
using Sizes = std::vector<std::int64_t>;
/// Orders temporaries: those with larger values are placed first.
using Priority = std::function<std::int64_t(std::size_t)>;

struct Placed {
  std::int64_t begin, end;
};

/// The temporaries placed so far, in a segment tree over the steps at which they are live.
class Lifetimes {
 public:
  explicit Lifetimes(const Temporaries& temporaries) : temporaries_(temporaries) {
    std::uint32_t last = 0;
    for (const Temporary& temporary : temporaries) last = std::max(last, temporary.last_step);
    while (leaves_ <= last) leaves_ *= 2;
    ranges_.resize(2 * leaves_);
  }

  void insert(std::size_t i) {
    const Temporary& temporary = temporaries_[i];
    if (temporary.first_step > temporary.last_step) return;
    by_first_step_.emplace(temporary.first_step, i);
    // A lifetime is split into a few ranges of the binary tree over steps.
    std::size_t begin = leaves_ + temporary.first_step, end = leaves_ + temporary.last_step + 1;
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 != 0) ranges_[begin++].push_back(i);
      if (end % 2 != 0) ranges_[--end].push_back(i);
    }
  }

  /// Calls `visit` once for each placed temporary whose lifetime overlaps that of temporary i.
  template <class Visit>
  void together(std::size_t i, const Visit& visit) const {
    const Temporary& temporary = temporaries_[i];
    if (temporary.first_step > temporary.last_step) return;
    for (std::size_t range = leaves_ + temporary.first_step; range > 0; range /= 2) {
      for (const std::size_t j : ranges_[range]) visit(j);
    }
    const auto end = by_first_step_.upper_bound({temporary.last_step, temporaries_.size()});
    for (auto later = by_first_step_.upper_bound({temporary.first_step, temporaries_.size()});
         later != end; ++later) {
      visit(later->second);
    }
  }

 private:
  const Temporaries& temporaries_;
  std::size_t leaves_ = 1;
  std::vector<std::vector<std::size_t>> ranges_;  ///< by tree node; k has children 2k, 2k + 1
  std::set<std::pair<std::uint32_t, std::size_t>> by_first_step_;
};

using Order = std::vector<std::size_t>;

Order ordered_by(const Priority& priority, std::size_t count) {
  Order order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return priority(a) != priority(b) ? priority(a) > priority(b) : a < b;
  });
  return order;
}

Arena place(const Temporaries& temporaries, const Sizes& sizes, const Order& order) {
  Arena arena;
  arena.offsets.assign(temporaries.size(), 0);
  Lifetimes placed(temporaries);
  std::vector<Placed> conflicts;
  for (const std::size_t i : order) {
    if (sizes[i] <= 0) continue;
    conflicts.clear();
    placed.together(i, [&](std::size_t j) {
      conflicts.push_back({arena.offsets[j], arena.offsets[j] + sizes[j]});
    });
    std::sort(conflicts.begin(), conflicts.end(),
              [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    std::int64_t offset = 0;
    for (const Placed& other : conflicts) {
      if (offset + sizes[i] <= other.begin) break;
      offset = std::max(offset, aligned(other.end));
    }
    arena.offsets[i] = offset;
    arena.bytes = std::max(arena.bytes, offset + sizes[i]);
    placed.insert(i);
  }
  return arena;
}

/// Moves the temporary that ends highest in the arena to the front of the order.
void raise_highest(const Arena& arena, const Sizes& sizes, Order& order) {
  const auto highest = std::max_element(order.begin(), order.end(), [&](auto a, auto b) {
    return arena.offsets[a] + sizes[a] < arena.offsets[b] + sizes[b];
  });
  std::rotate(order.begin(), highest, highest + 1);
}

/// Bytes live at the step with the most live bytes: a lower bound for the size of any arena.
std::int64_t largest_live_set(const Temporaries& temporaries, const Sizes& sizes) {
  std::uint32_t steps = 0;
  for (const Temporary& temporary : temporaries) steps = std::max(steps, temporary.last_step + 1);
  std::vector<std::int64_t> change(steps + std::size_t{1});
  for (std::size_t i = 0; i < temporaries.size(); ++i) {
    if (sizes[i] <= 0 || temporaries[i].first_step > temporaries[i].last_step) continue;
    change[temporaries[i].first_step] += aligned(sizes[i]);
    change[temporaries[i].last_step + std::size_t{1}] -= aligned(sizes[i]);
  }
  std::int64_t live = 0, largest = 0;
  for (const std::int64_t bytes : change) largest = std::max(largest, live += bytes);
  return largest;
}

}  // namespace

Arena plan_arena(const Temporaries& temporaries, const Sizes& sizes) {
  const auto lifetime = [&](std::size_t i) {
    return std::int64_t{temporaries[i].last_step} - temporaries[i].first_step + 1;
  };
  const Priority priorities[] = {
      [&](std::size_t i) { return sizes[i]; },
      [&](std::size_t i) { return -std::int64_t{temporaries[i].first_step}; },
      [&](std::size_t i) { return lifetime(i); },
      [&](std::size_t i) { return lifetime(i) * (sizes[i] / alignment + 1); },
      [&](std::size_t i) { return std::int64_t{temporaries[i].last_step}; },
  };
  const auto order_of = [&](std::size_t i) {
    return ordered_by(priorities[i], temporaries.size());
  };
  Arena best = place(temporaries, sizes, order_of(0));
  // Each further order takes as long to place. A program with many temporaries gains little from
  // it.
  constexpr std::size_t few = 512;
  const std::int64_t least = largest_live_set(temporaries, sizes);
  const auto can_gain = [&] { return best.bytes > least && temporaries.size() <= few; };
  const auto try_order = [&](const Order& order) {
    Arena other = place(temporaries, sizes, order);
    if (other.bytes < best.bytes) best = other;
    return other;
  };
  for (std::size_t i = 1; i < std::size(priorities) && can_gain(); ++i) try_order(order_of(i));
  constexpr int improvements = 8;
  Order order = order_of(1);
  for (int i = 0; i < improvements && can_gain(); ++i)
    raise_highest(try_order(order), sizes, order);
  return best;
}

}  // namespace heddle::passes
