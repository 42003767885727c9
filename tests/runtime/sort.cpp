#include "passes/plan/sort.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/element.h"
#include "ir/types/op.h"
#include "runtime/base/fault.h"
#include "runtime/host/libraries/highway.h"
#include "runtime/host/sort_rows.h"
#include "tests/runtime/helpers.h"

using namespace heddle;

namespace {

using Bytes = std::vector<unsigned char>;

/// Any bit patterns, NaN of either sign and zeros among them; of `few` patterns each occurs often.
Bytes any_keys(DType dtype, std::int64_t count, bool few, std::uint64_t seed) {
  const std::size_t size = size_of(dtype);
  Bytes keys(static_cast<std::size_t>(count) * size);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<unsigned char>(dtype == DType::boolean ? random() % 2 : random());
  }
  constexpr std::size_t patterns = 16;
  Bytes some(keys.begin(),
             keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), patterns * size)));
  if (is_floating(dtype) && some.size() == patterns * size) {
    std::fill(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(2 * size), 0);
    some[size - 1] = 0x80;                                                        // -0, then +0
    std::fill(some.end() - static_cast<std::ptrdiff_t>(size), some.end(), 0xff);  // a NaN
  }
  for (std::size_t i = 0; few && i < keys.size(); i += size)
    std::memcpy(&keys[i], &some[random() % patterns * size % some.size()], size);
  return keys;
}

template <class T>
void check_row(const T* keys, const T* sorted, const std::int64_t* places, std::int64_t length) {
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(length));
  std::iota(wanted.begin(), wanted.end(), 0);
  std::ranges::stable_sort(wanted, [keys](std::int64_t a, std::int64_t b) {
    return heddle_scalar::precedes(keys[a], keys[b]);
  });
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t place = wanted[static_cast<std::size_t>(i)];
    wrong += places[i] != place || std::memcmp(sorted + i, keys + place, sizeof(T)) != 0 ? 1 : 0;
  }
  CHECK(wrong == 0);
}

void check(DType dtype, std::int64_t rows, std::int64_t length, bool few) {
  CAPTURE(name_of(dtype));
  CAPTURE(rows);
  CAPTURE(length);
  CAPTURE(few);
  const std::int64_t count = rows * length;
  const Bytes keys = any_keys(dtype, count, few, static_cast<std::uint64_t>(length));
  Bytes sorted(keys.size()), scratch(keys.size());
  runtime::sort_rows(dtype, false, keys.data(), sorted.data(), scratch.data(), rows, length);
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  Bytes more(static_cast<std::size_t>(count * passes::host_index_bytes(dtype)));
  runtime::sort_rows(dtype, true, keys.data(), places.data(), more.data(), rows, length);
  ir::with_element(dtype, [&]<class T>(std::type_identity<T>) {
    const auto* from = reinterpret_cast<const T*>(keys.data());
    const auto* to = reinterpret_cast<const T*>(sorted.data());
    for (std::int64_t row = 0; row < rows; ++row)
      check_row(from + row * length, to + row * length, places.data() + row * length, length);
  });
}

}  // namespace

TEST_CASE("rows keep the order of what is equal, bit by bit, whoever shares them") {
  for (int d = 0; d <= static_cast<int>(DType::c128); ++d) {
    const auto dtype = static_cast<DType>(d);
    for (const std::int64_t length : {1, 63, 64, 1000}) check(dtype, 3, length, true);
    // Of one thread, of two or more with one merge, and what is counted.
    for (const bool few : {false, true}) {
      check(dtype, 1, 30'000, few);
      check(dtype, 2, 50'001, few);
      check(dtype, 1, 300'000, few);
    }
  }
}

TEST_CASE("where Highway is not found, rows are sorted by digits, with the same results") {
  const auto result = test::run_child("child: rows are sorted without Highway", {});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: rows are sorted without Highway" * doctest::skip()) {
  {
    const runtime::fault::Watch watch(runtime::fault::Kind::load, 0);
    CHECK_FALSE(runtime::highway::unavailable_reason().empty());
    CHECK(watch.fired());
  }
  for (const DType dtype : {DType::f16, DType::f32, DType::i64, DType::c64, DType::c128})
    check(dtype, 2, 50'001, false);
}
