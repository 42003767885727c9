#include "runtime/sort.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/element.h"
#include "passes/plan/sort.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

namespace {

/// Elements that one thread sorts or merges at a time. A constant, so that nothing depends on how
/// many threads there are.
constexpr std::int64_t part = 1 << 15;

/// How many of the first `count` elements of the merge of two sorted runs come from the first.
template <class E, class Precedes>
std::int64_t merge_split(const E* a, std::int64_t a_size, const E* b, std::int64_t b_size,
                         std::int64_t count, const Precedes& precedes) {
  std::int64_t low = std::max<std::int64_t>(0, count - b_size), high = std::min(count, a_size);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (precedes(b[count - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Makes elements [begin, end) of what merging neighbouring runs of `run` elements gives.
template <class E, class Precedes>
void merge_part(const E* from, E* to, std::int64_t length, std::int64_t run, std::int64_t begin,
                std::int64_t end, const Precedes& precedes) {
  const std::int64_t first = begin / (2 * run) * (2 * run);
  const std::int64_t middle = std::min(first + run, length);
  const std::int64_t last = std::min(middle + run, length);
  const E *a = from + first, *b = from + middle;
  const auto split = [&](std::int64_t count) {
    return merge_split(a, middle - first, b, last - middle, count, precedes);
  };
  const std::int64_t a_begin = split(begin - first), a_end = split(end - first);
  std::merge(a + a_begin, a + a_end, b + (begin - first - a_begin), b + (end - first - a_end),
             to + begin, precedes);
}

/// Parts are sorted at once, and merged in passes that are cut into parts again.
template <class E, class Precedes>
void sort_long_row(E* row, E* scratch, std::int64_t length, const Precedes& precedes) {
  parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
    std::stable_sort(row + begin, row + end, precedes);
  });
  E *from = row, *to = scratch;
  for (std::int64_t run = part; run < length; run *= 2, std::swap(from, to)) {
    parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
      merge_part(from, to, length, run, begin, end, precedes);
    });
  }
  if (from == row) return;
  parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
    std::copy(from + begin, from + end, row + begin);
  });
}

/// `sort(row)` for every row, those that are not long several at a time.
template <class Sort>
void for_each_row(std::int64_t rows, std::int64_t length, const Sort& sort) {
  if (length > part) {
    for (std::int64_t row = 0; row < rows; ++row) sort(row);
    return;
  }
  parallel_for(0, rows, std::max<std::int64_t>(1, part / length),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) sort(row);
               });
}

template <class E, class Precedes>
void sort_row(E* row, E* scratch, std::int64_t length, const Precedes& precedes) {
  if (length > part) return sort_long_row(row, scratch, length, precedes);
  std::stable_sort(row, row + length, precedes);
}

constexpr std::int64_t digits = 256;
/// Shorter rows are compared, which takes less than counting digits.
constexpr std::int64_t least_for_digits = 64;

template <class T>
constexpr bool has_digits = !heddle_scalar::is_complex<T>;

using DigitCounts = std::array<std::int64_t, digits>;

/// How often parts have each digit becomes where the first of each goes; false where all elements
/// have the same, so that nothing moves.
bool add_up(std::vector<DigitCounts>& parts, std::int64_t length) {
  std::int64_t sum = 0;
  for (std::int64_t digit = 0; digit < digits; ++digit) {
    const std::int64_t before = sum;
    for (DigitCounts& counts : parts) sum += std::exchange(counts[digit], sum);
    if (sum - before == length) return false;
  }
  return true;
}

/// Stable, by one digit of 8 bits of `bits_of(element)` after the other, the least significant
/// first. Elements go from `from` to `a` and `b` in turns; returns which of the three has them.
template <class E, class BitsOf>
const E* sort_by_digits(const E* from, E* a, E* b, std::int64_t length, const BitsOf& bits_of) {
  constexpr int bits = 8 * sizeof(bits_of(*from));
  std::vector<DigitCounts> counts((length + part - 1) / part);
  for (int shift = 0; shift < bits; shift += 8) {
    const auto digit = [&](const E& element) { return bits_of(element) >> shift & (digits - 1); };
    parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
      DigitCounts& own = counts[begin / part];
      own.fill(0);
      for (std::int64_t i = begin; i < end; ++i) ++own[digit(from[i])];
    });
    if (!add_up(counts, length)) continue;
    parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
      DigitCounts& next = counts[begin / part];
      for (std::int64_t i = begin; i < end; ++i) a[next[digit(from[i])]++] = from[i];
    });
    from = a;
    std::swap(a, b);
  }
  return from;
}

template <class T>
void sort_keys(const T* keys, T* out, T* scratch, std::int64_t rows, std::int64_t length) {
  for_each_row(rows, length, [&](std::int64_t row) {
    const T* const from = keys + row * length;
    T *const to = out + row * length, *const spare = scratch + row * length;
    if constexpr (has_digits<T>) {
      if (length >= least_for_digits) {
        const auto bits_of = [](T key) { return heddle_scalar::key_bits(key); };
        const T* const sorted = sort_by_digits(from, to, spare, length, bits_of);
        if (sorted != to) std::copy(sorted, sorted + length, to);
        return;
      }
    }
    std::copy(from, from + length, to);
    sort_row(to, spare, length, [](T a, T b) { return heddle_scalar::precedes(a, b); });
  });
}

/// A key's bits and where it comes from.
template <class Bits>
struct KeyedPlace {
  Bits key;
  std::uint32_t place;
};

template <class T>
void sort_keyed_places(const T* keys, std::int64_t* out, void* scratch, std::int64_t length) {
  using Bits = decltype(heddle_scalar::key_bits(T()));
  using Keyed = KeyedPlace<Bits>;
  auto* const spare = static_cast<Keyed*>(scratch);
  parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      spare[i] = {heddle_scalar::key_bits(keys[i]), static_cast<std::uint32_t>(i)};
  });
  const Keyed* const sorted = sort_by_digits(spare, spare + length, spare, length,
                                             [](const Keyed& one) { return one.key; });
  parallel_for(0, length, part, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = sorted[i].place;
  });
}

/// `bytes` of scratch an element.
template <class T>
void sort_places(const T* keys, std::int64_t* out, char* scratch, std::int64_t bytes,
                 std::int64_t rows, std::int64_t length) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  for_each_row(rows, length, [&](std::int64_t row) {
    const T* const key = keys + row * length;
    std::int64_t* const places = out + row * length;
    char* const spare = scratch + row * length * bytes;
    if constexpr (has_digits<T>) {
      if (length >= least_for_digits && length <= most)
        return sort_keyed_places(key, places, spare, length);
    }
    std::iota(places, places + length, std::int64_t{0});
    sort_row(
        places, reinterpret_cast<std::int64_t*>(spare), length,
        [key](std::int64_t a, std::int64_t b) { return heddle_scalar::precedes(key[a], key[b]); });
  });
}

}  // namespace

void sort_rows(DType dtype, bool indices, const void* keys, void* out, void* scratch,
               std::int64_t rows, std::int64_t length) {
  if (rows == 0 || length == 0) return;
  ir::with_element(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(keys);
    if (indices) {
      sort_places(from, static_cast<std::int64_t*>(out), static_cast<char*>(scratch),
                  passes::host_place_bytes(dtype), rows, length);
    } else {
      sort_keys(from, static_cast<T*>(out), static_cast<T*>(scratch), rows, length);
    }
  });
}

}  // namespace heddle::runtime
