#pragma once

#include <atomic>
#include <cstdint>

#include "ir/types/scalar.h"

namespace heddle::frontend {

/// State of a random generator. The n-th sample uses the key philox(key, n), and the k-th child
/// generator has the key philox(key, first_child + k).
struct GeneratorState {
  static constexpr std::uint64_t first_child = std::uint64_t{1} << 63;
  explicit GeneratorState(std::uint64_t key) : key(key) {}

  std::uint64_t next_sample_key() {
    return heddle_scalar::philox(key, draws.fetch_add(1, std::memory_order_relaxed));
  }
  std::uint64_t next_child() {
    return heddle_scalar::philox(key,
                                 first_child + children.fetch_add(1, std::memory_order_relaxed));
  }

  const std::uint64_t key;
  std::atomic<std::uint64_t> draws{0}, children{0};
};

}  // namespace heddle::frontend
