#include "passes/rewrite/repeats.h"

#include <algorithm>

namespace heddle::passes {

namespace {

/// Longer periods are not looked for: the search compares each element once for each period.
constexpr std::size_t longest_period = 1024;

void add_repeats(std::span<const std::uint64_t> sequence, std::size_t period, std::size_t min_steps,
                 std::vector<Repeat>& found) {
  const std::size_t last = sequence.size() - period;
  for (std::size_t begin = 0; begin < last;) {
    std::size_t end = begin;
    while (end < last && sequence[end] == sequence[end + period]) ++end;
    const Repeat repeat{begin, end + period, period};
    if (end > begin && repeat.steps() >= min_steps) found.push_back(repeat);
    begin = end + 1;
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
