#include "runtime/host/libraries/vector_sort.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/host/libraries/highway.h"

namespace heddle::runtime {

namespace {

/// LSD radix sort by 8-bit digits, from bit `low_bit` up. Skips digits that are equal in all keys.
template <class Key>
void sort_by_digits(Key* keys, Key* scratch, std::size_t count, int low_bit) {
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

template <auto Sort, class Key>
void sort(Key* keys, Key* scratch, std::size_t count, int low_bit) {
  if (!sorts_by_vectors()) return sort_by_digits(keys, scratch, count, low_bit);
  const highway::Api& highway = highway::api();
  highway::Sorter sorter;
  highway.create(&sorter);
  (highway.*Sort)(&sorter, keys, count, highway::SortAscending());
  highway.destroy(&sorter);
}

}  // namespace

void sort_run(std::uint16_t* keys, std::uint16_t* scratch, std::size_t count, int low_bit) {
  sort<&highway::Api::sort16>(keys, scratch, count, low_bit);
}
void sort_run(std::uint32_t* keys, std::uint32_t* scratch, std::size_t count, int low_bit) {
  sort<&highway::Api::sort32>(keys, scratch, count, low_bit);
}
void sort_run(std::uint64_t* keys, std::uint64_t* scratch, std::size_t count, int low_bit) {
  sort<&highway::Api::sort64>(keys, scratch, count, low_bit);
}
void sort_run(Key128* keys, Key128* scratch, std::size_t count, int low_bit) {
  sort<&highway::Api::sort128>(keys, scratch, count, low_bit);
}

bool sorts_by_vectors() { return highway::unavailable_reason().empty(); }

}  // namespace heddle::runtime
