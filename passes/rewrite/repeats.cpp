#include "passes/rewrite/repeats.h"

#include <algorithm>
#include <functional>

namespace heddle::passes {

namespace {

constexpr std::size_t longest_period = 1024;

/// A repeat is as many equal neighbours, `period` apart, as its steps but one have elements. So
/// only every so many elements are looked at, and what is around them if they are equal.
void add_repeats(std::span<const std::uint64_t> sequence, std::size_t period, std::size_t min_steps,
                 std::vector<Repeat>& found) {
  const std::size_t last = sequence.size() - period;
  const auto repeats_at = [&](std::size_t i) { return sequence[i] == sequence[i + period]; };
  std::size_t searched = 0;  // elements before it are in no further repeat
  for (std::size_t i = 0; i < last; i += (min_steps - 1) * period) {
    if (i < searched || !repeats_at(i)) continue;
    std::size_t begin = i, end = i + 1;
    while (begin > searched && repeats_at(begin - 1)) --begin;
    while (end < last && repeats_at(end)) ++end;
    const Repeat repeat{begin, end + period, period};
    if (repeat.steps() >= min_steps) found.push_back(repeat);
    searched = end;
  }
}

}  // namespace

std::vector<Repeat> find_repeats(std::span<const std::uint64_t> sequence, std::size_t min_steps) {
  std::vector<Repeat> found;
  const std::size_t longest = std::min(longest_period, sequence.size() / min_steps);
  for (std::size_t period = 1; period <= longest; ++period)
    add_repeats(sequence, period, min_steps, found);
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const Repeat& repeat) { return repeat.end - repeat.begin; });
  return found;
}

}  // namespace heddle::passes
