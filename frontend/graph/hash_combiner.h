#pragma once

#include <cstdint>

#include "ir/base/hash.h"

namespace heddle::frontend {

/// A 128-bit hash of a sequence of numbers, fast enough to compute while recording. For in-process
/// keys only; keys on disk use ir::Hasher.
class HashCombiner {
 public:
  HashCombiner& number(std::uint64_t value) {
    state_.low = folded(state_.low ^ value, 0x9e3779b97f4a7c15ull) + value;
    state_.high = folded(state_.high + value, 0xc2b2ae3d27d4eb4full) + state_.low;
    return *this;
  }
  HashCombiner& hash(const ir::Hash128& value) { return number(value.low).number(value.high); }
  const ir::Hash128& finish() const { return state_; }

 private:
  /// The halves of a product together, so that high bits of x reach low bits of the result.
  static constexpr std::uint64_t folded(std::uint64_t x, std::uint64_t odd) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{x} * odd;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  ir::Hash128 state_{0x243f6a8885a308d3ull, 0x13198a2e03707344ull};
};

}  // namespace heddle::frontend
