#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::passes {

/// A part of a sequence that equals itself, moved by `period`: elements `begin` to `end`.
struct Repeat {
  std::size_t begin = 0, end = 0, period = 1;

  std::size_t steps() const { return (end - begin) / period; }
};

/// The parts of a sequence that have at least `min_steps` periods, 2 or more, of at most 1024
/// elements, longest first; of equally long ones, those with the shortest period first. They may
/// overlap.
std::vector<Repeat> find_repeats(std::span<const std::uint64_t> sequence, std::size_t min_steps);

}  // namespace heddle::passes
