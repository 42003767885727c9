#include "runtime/host/libraries/vector_sort.h"

#ifdef HEDDLE_WITH_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#else
#include <algorithm>
#include <array>
#include <utility>
#endif

namespace heddle::runtime {

namespace {

#ifdef HEDDLE_WITH_HIGHWAY

template <class Key>
void sort(Key* keys, Key*, std::size_t count, int) {
  const hwy::Sorter sorter;
  if constexpr (sizeof(Key) == sizeof(hwy::uint128_t)) {
    sorter(reinterpret_cast<hwy::uint128_t*>(keys), count, hwy::SortAscending());
  } else {
    sorter(keys, count, hwy::SortAscending());
  }
}

#else

/// LSD radix sort by 8-bit digits, from bit `low_bit` up. Skips digits that are equal in all keys.
template <class Key>
void sort(Key* keys, Key* scratch, std::size_t count, int low_bit) {
  constexpr int digits = 256, bits = 8 * sizeof(Key);
  Key *from = keys, *to = scratch;
  for (int shift = low_bit; shift < bits; shift += 8) {
    const auto digit = [&](Key key) { return static_cast<std::size_t>(key >> shift) % digits; };
    std::array<std::size_t, digits> next{};
    for (std::size_t i = 0; i < count; ++i) ++next[digit(from[i])];
    if (std::ranges::find(next, count) != next.end()) continue;
    std::size_t sum = 0;
    for (std::size_t& place : next) sum += std::exchange(place, sum);
    for (std::size_t i = 0; i < count; ++i) to[next[digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::copy(from, from + count, keys);
}

#endif

}  // namespace

void sort_run(std::uint16_t* keys, std::uint16_t* scratch, std::size_t count, int low_bit) {
  sort(keys, scratch, count, low_bit);
}
void sort_run(std::uint32_t* keys, std::uint32_t* scratch, std::size_t count, int low_bit) {
  sort(keys, scratch, count, low_bit);
}
void sort_run(std::uint64_t* keys, std::uint64_t* scratch, std::size_t count, int low_bit) {
  sort(keys, scratch, count, low_bit);
}
void sort_run(Key128* keys, Key128* scratch, std::size_t count, int low_bit) {
  sort(keys, scratch, count, low_bit);
}

bool sorts_by_vectors() {
#ifdef HEDDLE_WITH_HIGHWAY
  return true;
#else
  return false;
#endif
}

}  // namespace heddle::runtime
