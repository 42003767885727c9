#include "runtime/host/sort_rows.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/types/element.h"
#include "passes/plan/sort.h"
#include "runtime/base/thread_pool.h"
#include "runtime/host/instruction_levels.h"
#include "runtime/host/libraries/vector_sort.h"

namespace heddle::runtime {

namespace {

/// Number of elements that a thread sorts or merges at a time when several threads share a row.
constexpr std::int64_t part = 1 << 15;
/// Rows shorter than this are sorted by comparison: converting to keys and back would take longer.
constexpr std::int64_t least_for_keys = 64;

/// Number of elements from the first run among the first `count` elements of the merge of two
/// sorted runs.
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

/// The rest of a merge of two sorted runs into [begin, end). It proceeds from both ends at once,
/// because the comparisons at the two ends are independent.
template <class E>
struct Merge {
  const E *a, *a_end, *b, *b_end;
  std::int64_t begin, end;

  /// The number of steps that may follow: both runs have elements before each of them.
  std::int64_t steps() const { return std::min(a_end - a, b_end - b) / 2; }

  template <class Precedes, class Sink>
  void step(const Precedes& precedes, const Sink& sink) {
    const bool b_first = precedes(*b, *a);
    sink(begin++, b_first ? *b : *a);
    b += b_first;
    a += !b_first;
    const bool a_last = precedes(b_end[-1], a_end[-1]);
    sink(--end, a_last ? a_end[-1] : b_end[-1]);
    a_end -= a_last;
    b_end -= !a_last;
  }

  template <class Precedes, class Sink>
  void finish(const Precedes& precedes, const Sink& sink) {
    for (std::int64_t some; (some = steps()) > 0;) {
      for (std::int64_t i = 0; i < some; ++i) step(precedes, sink);
    }
    while (a != a_end && b != b_end) sink(begin++, precedes(*b, *a) ? *b++ : *a++);
    while (a != a_end) sink(begin++, *a++);
    while (b != b_end) sink(begin++, *b++);
  }
};

/// Stable merge: calls sink(i, element) for the elements of two sorted runs, i from `begin` on. Two
/// alternating merges give four independent chains of comparisons.
template <class E, class Precedes, class Sink>
void merge_runs(const E* a, std::int64_t a_size, const E* b, std::int64_t b_size,
                std::int64_t begin, const Precedes& precedes, const Sink& sink) {
  const std::int64_t half = (a_size + b_size) / 2;
  const std::int64_t from_a = merge_split(a, a_size, b, b_size, half, precedes);
  const std::int64_t from_b = half - from_a, middle = begin + half;
  Merge<E> first{a, a + from_a, b, b + from_b, begin, middle};
  Merge<E> second{a + from_a, a + a_size, b + from_b, b + b_size, middle, begin + a_size + b_size};
  for (std::int64_t some; (some = std::min(first.steps(), second.steps())) > 0;) {
    for (std::int64_t i = 0; i < some; ++i) {
      first.step(precedes, sink);
      second.step(precedes, sink);
    }
  }
  first.finish(precedes, sink);
  second.finish(precedes, sink);
}

/// Computes elements [begin, end) of the merge of all pairs of neighbouring runs of `run` elements.
template <class E, class Precedes, class Sink>
void merge_part(const E* from, std::int64_t length, std::int64_t run, std::int64_t begin,
                std::int64_t end, const Precedes& precedes, const Sink& sink) {
  while (begin < end) {
    const std::int64_t first = begin / (2 * run) * (2 * run);
    const std::int64_t middle = std::min(first + run, length);
    const std::int64_t last = std::min(middle + run, length), stop = std::min(last, end);
    const E *a = from + first, *b = from + middle;
    const auto split = [&](std::int64_t count) {
      return merge_split(a, middle - first, b, last - middle, count, precedes);
    };
    const std::int64_t a_begin = split(begin - first), a_end = split(stop - first);
    merge_runs(a + a_begin, a_end - a_begin, b + (begin - first - a_begin),
               (stop - begin) - (a_end - a_begin), begin, precedes, sink);
    begin = stop;
  }
}

/// Sorts a row and calls sink(i, element) for each element. `fill(to, begin, end)` produces the
/// elements, and `sort(from, spare, count)` sorts a run. There are at most as many runs as threads.
/// They are merged in rounds between `a` and `b`; the last round reads from `a`.
template <class E, class Fill, class Sort, class Precedes, class Sink>
void sort_row(E* a, E* b, std::int64_t length, const Fill& fill, const Sort& sort,
              const Precedes& precedes, const Sink& sink) {
  const std::int64_t most_runs = length > part ? thread_count() : 1;
  const std::int64_t run =
      std::max((length + most_runs - 1) / most_runs, std::min(length, part / 2));
  int turns = 0;
  while (run << turns < length) ++turns;
  E *from = turns % 2 == 0 && turns > 0 ? b : a, *to = from == a ? b : a;
  parallel_for(0, length, run, [&](std::int64_t begin, std::int64_t end) {
    fill(from, begin, end);
    sort(from + begin, to + begin, end - begin);
    if (turns > 0) return;
    for (std::int64_t i = begin; i < end; ++i) sink(i, from[i]);
  });
  const std::int64_t share = std::clamp(run / 2, part / 2, part);
  for (int turn = 0; turn < turns; ++turn, std::swap(from, to)) {
    parallel_for(0, length, share, [&](std::int64_t begin, std::int64_t end) {
      if (turn + 1 == turns) {
        merge_part(from, length, run << turn, begin, end, precedes, sink);
      } else {
        merge_part(from, length, run << turn, begin, end, precedes,
                   [&](std::int64_t i, const E& element) { to[i] = element; });
      }
    });
  }
}

/// Calls `sort(row)` for every row. Short rows are processed in parallel, several per piece.
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

using heddle_scalar::value_of;

/// The key type of vector_sort.h with this many bytes: as wide as T, or as T and an index.
template <std::size_t Bytes>
using KeyOf = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using Key = KeyOf<sizeof(T)>;

/// A key whose unsigned order is the order of T. Equal values have equal keys.
template <class T>
Key<T> sort_key(T x) {
  return heddle_scalar::canonical_key<T>(heddle_scalar::key_of(x));
}

/// Computes the keys of `from`. Returns true if the key encoding is not injective: distinct
/// representations, such as -0 and 0, got the same key.
template <class T>
HEDDLE_FOR_EVERY_LEVEL bool make_keys(const T* from, Key<T>* keys, std::int64_t count) {
  Key<T> found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Key<T> key = heddle_scalar::key_of(from[i]);
    keys[i] = heddle_scalar::canonical_key<T>(key);
    found |= keys[i] ^ key;
  }
  return found != 0;
}

/// Restores zeros and NaNs of a sorted row in the order in which they occur in `from`.
template <class T>
void restore_specials(const T* from, T* row, std::int64_t length) {
  const auto precedes = [](T a, T b) { return heddle_scalar::precedes(a, b); };
  T* zero = std::lower_bound(row, row + length, T{}, precedes);
  T* nan = std::lower_bound(row, row + length, heddle_scalar::last_in_order<T>(), precedes);
  for (std::int64_t i = 0; i < length; ++i) {
    const auto wide = heddle_scalar::widen(from[i]);
    if (wide == 0) *zero++ = from[i];
    if (wide != wide) *nan++ = from[i];
  }
}

/// Counting sort, for keys with few bits.
template <class T>
void sort_by_counts(const T* from, T* to, std::int64_t length, std::atomic<bool>& special) {
  constexpr std::int64_t keys = std::int64_t{1} << (8 * sizeof(T));
  const std::int64_t most = length > part ? thread_count() : 1, share = (length + most - 1) / most;
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(most));
  parallel_for(0, length, share, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t>& own = counts[static_cast<std::size_t>(begin / share)];
    own.assign(keys, 0);
    bool found = false;
    for (std::int64_t i = begin; i < end; ++i) {
      const Key<T> key = heddle_scalar::key_of(from[i]);
      const Key<T> canonical = heddle_scalar::canonical_key<T>(key);
      ++own[canonical];
      found |= key != canonical;
    }
    if (found) special = true;
  });
  std::vector<std::int64_t> begins(keys + 1, 0);
  for (const std::vector<std::int64_t>& own : counts) {
    for (std::size_t key = 0; key < own.size(); ++key) begins[key + 1] += own[key];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  parallel_for(0, keys, length > part ? keys / 16 : keys,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t key = begin; key < end; ++key) {
                   std::fill(to + begins[static_cast<std::size_t>(key)],
                             to + begins[static_cast<std::size_t>(key) + 1],
                             value_of<T>(static_cast<Key<T>>(key)));
                 }
               });
}

template <class T>
void sort_numbers(const T* from, T* to, T* spare, std::int64_t length) {
  std::atomic<bool> special{false};
  constexpr std::int64_t least_to_count = sizeof(T) == 1 ? 1 : 1 << 18;
  if constexpr (sizeof(T) <= 2) {
    if (length >= least_to_count) {
      sort_by_counts(from, to, length, special);
      if (special) restore_specials(from, to, length);
      return;
    }
  }
  if constexpr (sizeof(T) > 1) {
    const auto fill = [&](Key<T>* keys, std::int64_t begin, std::int64_t end) {
      if (make_keys(from + begin, keys + begin, end - begin)) special = true;
    };
    sort_row(
        reinterpret_cast<Key<T>*>(spare), reinterpret_cast<Key<T>*>(to), length, fill,
        [](Key<T>* keys, Key<T>* other, std::int64_t count) {
          sort_run(keys, other, static_cast<std::size_t>(count));
        },
        std::less<Key<T>>(), [to](std::int64_t i, Key<T> key) { to[i] = value_of<T>(key); });
    if (special) restore_specials(from, to, length);
  }
}

/// Argsort: each key is stored in the high bits above its index.
template <class Keyed, class T>
void argsort_by_keys(const T* from, std::int64_t* out, Keyed* spare, std::int64_t length) {
  constexpr int place_bits = 4 * sizeof(Keyed);
  using Place = KeyOf<sizeof(Keyed) / 2>;
  sort_row(
      spare, spare + length, length,
      [&](Keyed* keyed, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          keyed[i] = Keyed{sort_key(from[i])} << place_bits | static_cast<Keyed>(i);
      },
      [](Keyed* keyed, Keyed* other, std::int64_t count) {
        sort_run(keyed, other, static_cast<std::size_t>(count), place_bits);
      },
      std::less<Keyed>(),
      [out](std::int64_t i, const Keyed& keyed) {
        out[i] = static_cast<std::int64_t>(static_cast<Place>(keyed));
      });
}

template <class T>
void sort_keys(const T* keys, T* out, T* scratch, std::int64_t rows, std::int64_t length) {
  for_each_row(rows, length, [&](std::int64_t row) {
    const T* const from = keys + row * length;
    T *const to = out + row * length, *const spare = scratch + row * length;
    if constexpr (!heddle_scalar::is_complex<T>) {
      if (length >= least_for_keys) return sort_numbers(from, to, spare, length);
    }
    const auto precedes = [](const T& a, const T& b) { return heddle_scalar::precedes(a, b); };
    sort_row(
        spare, to, length,
        [from](T* some, std::int64_t begin, std::int64_t end) {
          std::copy(from + begin, from + end, some + begin);
        },
        [&](T* run, T*, std::int64_t count) { std::stable_sort(run, run + count, precedes); },
        precedes, [to](std::int64_t i, const T& element) { to[i] = element; });
  });
}

/// Argsort of all rows. `scratch` has `bytes` bytes per element.
template <class T>
void sort_places(const T* keys, std::int64_t* out, char* scratch, std::int64_t bytes,
                 std::int64_t rows, std::int64_t length) {
  using Keyed = std::conditional_t<sizeof(T) <= 4, std::uint64_t, Key128>;
  constexpr std::int64_t most = sizeof(T) <= 4 ? std::numeric_limits<std::uint32_t>::max()
                                               : std::numeric_limits<std::int64_t>::max();
  for_each_row(rows, length, [&](std::int64_t row) {
    const T* const key = keys + row * length;
    std::int64_t* const places = out + row * length;
    char* const spare = scratch + row * length * bytes;
    if constexpr (!heddle_scalar::is_complex<T>) {
      if (length >= least_for_keys && length <= most)
        return argsort_by_keys(key, places, reinterpret_cast<Keyed*>(spare), length);
    }
    auto* const own = reinterpret_cast<std::int64_t*>(spare);
    const auto precedes = [key](std::int64_t a, std::int64_t b) {
      return heddle_scalar::precedes(key[a], key[b]);
    };
    sort_row(
        own, own + length, length,
        [](std::int64_t* some, std::int64_t begin, std::int64_t end) {
          std::iota(some + begin, some + end, begin);
        },
        [&](std::int64_t* run, std::int64_t*, std::int64_t count) {
          std::stable_sort(run, run + count, precedes);
        },
        precedes, [places](std::int64_t i, std::int64_t place) { places[i] = place; });
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
                  passes::host_index_bytes(dtype), rows, length);
    } else {
      sort_keys(from, static_cast<T*>(out), static_cast<T*>(scratch), rows, length);
    }
  });
}

}  // namespace heddle::runtime
