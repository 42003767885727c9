#include "runtime/host/blocks/lane_copies.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "heddle/error.h"

#include "ir/types/scalar.h"

namespace heddle::runtime::host {

namespace {

struct Sixteen {
  std::uint64_t low, high;
};

/// Calls run(T()) with an unsigned type of `bytes` bytes.
template <class Run>
void with_type(std::size_t bytes, const Run& run) {
  switch (bytes) {
    case 1:
      return run(std::uint8_t());
    case 2:
      return run(std::uint16_t());
    case 4:
      return run(std::uint32_t());
    case 8:
      return run(std::uint64_t());
    default:
      return run(Sixteen());
  }
}

/// Calls visit(k, index of lane k) for all lanes, in loops that the compiler can specialise.
template <class Visit>
void each_lane(const LaneIndex& at, std::int64_t n, const Visit& visit) {
  if (at.values == nullptr) {
    for (std::int64_t k = 0; k < n; ++k) visit(k, at.base + k * at.stride);
  } else if (at.stride == 0) {
    for (std::int64_t k = 0; k < n; ++k) visit(k, at.base + at.values[k]);
  } else {
    for (std::int64_t k = 0; k < n; ++k) visit(k, at.at(k));
  }
}

}  // namespace

void fill_lanes(std::byte* to, const std::byte* from, std::size_t bytes, std::int64_t n) {
  with_type(bytes, [&](auto type) {
    using T = decltype(type);
    T value;
    std::memcpy(&value, from, sizeof value);
    auto* const block = reinterpret_cast<T*>(to);
    for (std::int64_t k = 0; k < n; ++k) block[k] = value;
  });
}

namespace {

void gather_run(std::byte* to, const std::byte* array, const LaneIndex& at, std::size_t bytes,
                std::int64_t n) {
  const auto width = static_cast<std::int64_t>(bytes);
  if (at.is_contiguous()) {
    std::memcpy(to, array + at.base * width, bytes * static_cast<std::size_t>(n));
    return;
  }
  if (at.is_uniform()) return fill_lanes(to, array + at.base * width, bytes, n);
  with_type(bytes, [&](auto type) {
    using T = decltype(type);
    auto* const block = reinterpret_cast<T*>(to);
    const auto* const elements = reinterpret_cast<const T*>(array);
    each_lane(at, n, [&](std::int64_t k, std::int64_t index) { block[k] = elements[index]; });
  });
}

/// Copies elements from index `base` on where the guard is not 0, and zeros elsewhere. Guards of
/// pieces are the same for long runs of lanes.
void copy_guarded_runs(std::byte* to, const std::byte* array, std::int64_t base,
                       const unsigned char* guard, std::size_t bytes, std::int64_t n) {
  const auto width = static_cast<std::int64_t>(bytes);
  const unsigned char* const end = guard + n;
  for (std::int64_t k = 0; k < n;) {
    const unsigned char* const first = std::find_if(guard + k, end, [](auto x) { return x != 0; });
    std::memset(to + k * width, 0, static_cast<std::size_t>((first - guard - k) * width));
    k = first - guard;
    if (k == n) return;
    const void* const found = std::memchr(first, 0, static_cast<std::size_t>(end - first));
    const auto* const stop = found == nullptr ? end : static_cast<const unsigned char*>(found);
    std::memcpy(to + k * width, array + (base + k) * width,
                static_cast<std::size_t>((stop - first) * width));
    k = stop - guard;
  }
}

void gather_guarded_run(std::byte* to, const std::byte* array, const LaneIndex& at,
                        const unsigned char* guard, std::size_t bytes, std::int64_t n) {
  if (at.is_contiguous()) return copy_guarded_runs(to, array, at.base, guard, bytes, n);
  with_type(bytes, [&](auto type) {
    using T = decltype(type);
    auto* const block = reinterpret_cast<T*>(to);
    const auto* const elements = reinterpret_cast<const T*>(array);
    each_lane(at, n, [&](std::int64_t k, std::int64_t index) {
      block[k] = guard[k] != 0 ? elements[index] : T{};
    });
  });
}

void scatter_run(std::byte* array, const LaneIndex& at, const std::byte* from, std::size_t bytes,
                 std::int64_t n) {
  const auto width = static_cast<std::int64_t>(bytes);
  if (at.is_contiguous() || n == 1) {
    std::byte* const to = array + at.at(0) * width;
    if (to != from) std::memmove(to, from, bytes * static_cast<std::size_t>(n));
    return;
  }
  with_type(bytes, [&](auto type) {
    using T = decltype(type);
    const auto* const block = reinterpret_cast<const T*>(from);
    auto* const elements = reinterpret_cast<T*>(array);
    each_lane(at, n, [&](std::int64_t k, std::int64_t index) { elements[index] = block[k]; });
  });
}

}  // namespace

void gather_lanes(std::byte* to, const std::byte* array, const LaneIndex& at, std::size_t bytes,
                  std::int64_t n) {
  const auto width = static_cast<std::int64_t>(bytes);
  for_runs(at, n, [&](std::int64_t k, const LaneIndex& run, std::int64_t count) {
    gather_run(to + k * width, array, run, bytes, count);
  });
}

void gather_guarded_lanes(std::byte* to, const std::byte* array, const LaneIndex& at,
                          const unsigned char* guard, std::size_t bytes, std::int64_t n) {
  const auto width = static_cast<std::int64_t>(bytes);
  for_runs(at, n, [&](std::int64_t k, const LaneIndex& run, std::int64_t count) {
    gather_guarded_run(to + k * width, array, run, guard + k, bytes, count);
  });
}

void scatter_lanes(std::byte* array, const LaneIndex& at, const std::byte* from, std::size_t bytes,
                   std::int64_t n) {
  const auto width = static_cast<std::int64_t>(bytes);
  for_runs(at, n, [&](std::int64_t k, const LaneIndex& run, std::int64_t count) {
    scatter_run(array, run, from + k * width, bytes, count);
  });
}

void write_indices(std::int64_t* to, const LaneIndex& at, std::int64_t n) {
  for_runs(at, n, [&](std::int64_t first, const LaneIndex& run, std::int64_t count) {
    each_lane(run, count, [&](std::int64_t k, std::int64_t index) { to[first + k] = index; });
  });
}

namespace {

template <class T>
void combine(std::byte* array, const LaneIndex& at, const std::byte* from,
             const unsigned char* guard, bool adds, std::int64_t n) {
  auto* const elements = reinterpret_cast<T*>(array);
  const auto* const values = reinterpret_cast<const T*>(from);
  for (std::int64_t k = 0; k < n; ++k) {
    if (guard[k] == 0) continue;
    const std::atomic_ref<T> element(elements[at.at(k)]);
    if (adds) {
      element.fetch_add(values[k], std::memory_order_relaxed);
      continue;
    }
    T seen = element.load(std::memory_order_relaxed);
    while (seen < values[k] &&
           !element.compare_exchange_weak(seen, values[k], std::memory_order_relaxed)) {
    }
  }
}

}  // namespace

void combine_lanes(std::byte* array, const LaneIndex& at, const std::byte* from,
                   const unsigned char* guard, DType dtype, bool adds, std::int64_t n) {
  switch (dtype) {
    case DType::i32:
      return combine<std::int32_t>(array, at, from, guard, adds, n);
    case DType::u32:
      return combine<std::uint32_t>(array, at, from, guard, adds, n);
    case DType::i64:
      return combine<std::int64_t>(array, at, from, guard, adds, n);
    case DType::u64:
      return combine<std::uint64_t>(array, at, from, guard, adds, n);
    default:
      throw InternalError("values of this dtype are not combined in memory");
  }
}

namespace {

void within_run(std::byte* to, const LaneIndex& at, std::int64_t begin, std::int64_t end,
                std::int64_t step, std::int64_t n) {
  auto* const block = reinterpret_cast<unsigned char*>(to);
  if (step == 1 && at.is_contiguous()) {
    const std::int64_t first = std::clamp<std::int64_t>(begin - at.base, 0, n);
    const std::int64_t stop = std::clamp(end - at.base, first, n);
    std::fill(block, block + first, 0);
    std::fill(block + first, block + stop, 1);
    std::fill(block + stop, block + n, 0);
    return;
  }
  if (at.is_uniform()) {
    const bool within = at.base >= begin && at.base < end && (at.base - begin) % step == 0;
    std::fill_n(block, n, within ? 1 : 0);
    return;
  }
  if (step == 1) {
    each_lane(at, n, [&](std::int64_t k, std::int64_t index) {
      block[k] = static_cast<unsigned char>((index >= begin) & (index < end));
    });
    return;
  }
  each_lane(at, n, [&](std::int64_t k, std::int64_t index) {
    block[k] = index >= begin && index < end && (index - begin) % step == 0 ? 1 : 0;
  });
}

}  // namespace

void within_lanes(std::byte* to, const LaneIndex& at, std::int64_t begin, std::int64_t end,
                  std::int64_t step, std::int64_t n) {
  for_runs(at, n, [&](std::int64_t k, const LaneIndex& run, std::int64_t count) {
    within_run(to + k, run, begin, end, step, count);
  });
}

void position_lanes(std::byte* to, const std::int64_t* from, std::int64_t extent, std::int64_t n) {
  auto* const block = reinterpret_cast<std::int64_t*>(to);
  for (std::int64_t k = 0; k < n; ++k) block[k] = heddle_scalar::position(from[k], extent);
}

void inside_lanes(std::byte* to, const std::int64_t* from, std::int64_t extent, std::int64_t n) {
  auto* const block = reinterpret_cast<unsigned char*>(to);
  for (std::int64_t k = 0; k < n; ++k)
    block[k] = heddle_scalar::is_position(from[k], extent) ? 1 : 0;
}

void bound_lanes(std::byte* to, const std::int64_t* from, std::int64_t extent, bool is_unsigned,
                 std::int64_t n) {
  auto* const block = reinterpret_cast<std::int64_t*>(to);
  for (std::int64_t k = 0; k < n; ++k) {
    block[k] = is_unsigned ? heddle_scalar::bound(static_cast<unsigned long long>(from[k]), extent)
                           : heddle_scalar::bound(static_cast<long long>(from[k]), extent);
  }
}

}  // namespace heddle::runtime::host
