#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "frontend/graph/hash_combiner.h"

using heddle::frontend::HashCombiner;

namespace {

bool are_distinct(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values) == values.end();
}

}  // namespace

// A key is compared in place of what it was made from. Either half alone has 64 bits, so that among
// a million keys equal halves would show a fault of the function, not chance.
TEST_CASE("keys of short sequences of small numbers are distinct in either half") {
  std::vector<std::uint64_t> low, high;
  constexpr std::uint64_t most = 10;
  std::uint64_t sequences = 1;
  for (int length = 1; length <= 6; ++length) {
    sequences *= most;
    for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
      HashCombiner key;
      std::uint64_t rest = sequence;
      for (int i = 0; i < length; ++i, rest /= most) key.number(rest % most);
      low.push_back(key.finish().low);
      high.push_back(key.finish().high);
    }
  }
  CHECK(are_distinct(low));
  CHECK(are_distinct(high));
}

TEST_CASE("keys of addresses, lines and columns are distinct in either half") {
  std::vector<std::uint64_t> low, high;
  for (std::uint64_t file = 0; file < 16; ++file) {
    for (std::uint64_t line = 0; line < 256; ++line) {
      for (std::uint64_t column = 0; column < 128; ++column) {
        const auto key = HashCombiner()
                             .number(0x7f0000000000 + 64 * file)
                             .number((line << 32) | column)
                             .finish();
        low.push_back(key.low);
        high.push_back(key.high);
      }
    }
  }
  CHECK(are_distinct(low));
  CHECK(are_distinct(high));
}
