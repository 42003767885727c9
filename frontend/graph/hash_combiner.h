#pragma once

#include <cstdint>

#include "ir/base/hash.h"

namespace heddle::frontend {

/// A 128-bit hash of a sequence of numbers, fast enough to compute while recording. For in-process
/// keys only; keys on disk use ir::Hasher.
class HashCombiner {
 public:
  HashCombiner& number(std::uint64_t value) {
    state_.low = finalize((state_.low ^ value) + 0x9e3779b97f4a7c15ull);
    state_.high = finalize((state_.high + value) ^ 0xc2b2ae3d27d4eb4full) + state_.low;
    return *this;
  }
  HashCombiner& hash(const ir::Hash128& value) { return number(value.low).number(value.high); }
  const ir::Hash128& finish() const { return state_; }

 private:
  static constexpr std::uint64_t finalize(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  ir::Hash128 state_{0x243f6a8885a308d3ull, 0x13198a2e03707344ull};
};

}  // namespace heddle::frontend
