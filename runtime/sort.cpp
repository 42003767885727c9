#include "runtime/sort.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/element.h"
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

template <class T>
void sort_keys(const T* keys, T* out, T* scratch, std::int64_t rows, std::int64_t length) {
  const auto precedes = [](T a, T b) { return heddle_scalar::precedes(a, b); };
  parallel_for(0, rows * length, part, [&](std::int64_t begin, std::int64_t end) {
    std::copy(keys + begin, keys + end, out + begin);
  });
  for_each_row(rows, length, [&](std::int64_t row) {
    sort_row(out + row * length, scratch + row * length, length, precedes);
  });
}

template <class T>
void sort_places(const T* keys, std::int64_t* out, std::int64_t* scratch, std::int64_t rows,
                 std::int64_t length) {
  for_each_row(rows, length, [&](std::int64_t row) {
    const T* const key = keys + row * length;
    const auto precedes = [key](std::int64_t a, std::int64_t b) {
      return heddle_scalar::precedes(key[a], key[b]);
    };
    std::int64_t* const places = out + row * length;
    std::iota(places, places + length, std::int64_t{0});
    sort_row(places, scratch + row * length, length, precedes);
  });
}

}  // namespace

void sort_rows(DType dtype, bool indices, const void* keys, void* out, void* scratch,
               std::int64_t rows, std::int64_t length) {
  if (rows == 0 || length == 0) return;
  ir::with_element(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(keys);
    if (indices) {
      sort_places(from, static_cast<std::int64_t*>(out), static_cast<std::int64_t*>(scratch), rows,
                  length);
    } else {
      sort_keys(from, static_cast<T*>(out), static_cast<T*>(scratch), rows, length);
    }
  });
}

}  // namespace heddle::runtime
