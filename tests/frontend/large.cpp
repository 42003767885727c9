#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "values.h"

using namespace hd;
using test::check;

namespace {

/// Odd numbers of elements, of a byte each: beyond 32 bits' range on a GPU; elsewhere, where that
/// takes minutes, by request (HEDDLE_NIGHTLY=1).
std::vector<std::int64_t> sizes() {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const bool nightly = std::getenv("HEDDLE_NIGHTLY") != nullptr;
  if (device() == "cpu") return {nightly ? limit + 1 : 1'000'003};
  return {limit - 1, limit + 1, 2 * limit + 1};
}

/// What stands at a place: no period is a power of two, so that a wrapped index shows.
Array pattern(const Array& place) { return ((place * 37 + place / 65521) % 251).astype(DType::u8); }
Array places(std::int64_t count) { return arange<std::int64_t>(count); }
Array bytes(std::int64_t count) { return pattern(places(count)).eval(); }

bool same(const Array& a, const Array& b) {
  REQUIRE(a.shape() == b.shape());
  return count_nonzero(not_equal(a, b)).item<std::int64_t>() == 0;
}

/// A sum in pieces that no 32-bit index is short for.
std::uint64_t sum_in_pieces(const Array& x) {
  constexpr std::int64_t piece = std::int64_t{1} << 26;
  std::uint64_t total = 0;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(x.size()); at += piece)
    total += sum(x(slice(at, at + piece)).astype(DType::u64)).item<std::uint64_t>();
  return total;
}

void for_sizes(const std::function<void(std::int64_t)>& check) {
  // Places are 8 bytes each: they are to be parts of kernels only.
  const struct Lazily {
    bool before = auto_eval(false);
    ~Lazily() { auto_eval(before); }
  } lazily;
  for (const std::int64_t size : sizes()) {
    CAPTURE(size);
    check(size);
  }
}

TEST_CASE("elements, slices and reversals beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const Array x = bytes(n);
    CHECK(same((x + 3).eval(), pattern(places(n)) + 3));
    CHECK(same((x(slice(1, {}, 2)) + 0).eval(), pattern(places(n / 2) * 2 + 1)));
    CHECK(same((x(slice({}, {}, -1)) + 0).eval(), pattern(n - 1 - places(n))));
    CHECK(x(n - 1).item<int>() == pattern(places(1) + (n - 1))(0).item<int>());
    Array y = x;
    y.at(slice(n - 5, n - 1)) = 255;
    CHECK(count_nonzero(y == 255).item<std::int64_t>() == 4);
    CHECK(same(y(slice(0, n - 5)), x(slice(0, n - 5))));
  });
}

TEST_CASE("transposes, joins and matrices beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const std::int64_t columns = 65537, rows = n / columns;
    const Array x = bytes(rows * columns).reshape({rows, columns});
    const Array i = arange<std::int64_t>(rows), j = arange<std::int64_t>(columns).reshape({-1, 1});
    CHECK(same((x.T() + 0).eval(), pattern(i * columns + j)));
    const Array both = concatenate({x.ravel(), x.ravel()(slice(0, 3))}).eval();
    CHECK(same(both(slice(0, rows * columns)), pattern(places(rows * columns))));
    CHECK(same(both(slice(rows * columns, {})), pattern(places(3))));
  });
}

TEST_CASE("reductions beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const Array x = bytes(n);
    const std::uint64_t total = sum_in_pieces(x);
    CHECK(sum(x.astype(DType::u64)).item<std::uint64_t>() == total);
    CHECK(argmax((places(n) == n - 2).eval()).item<std::int64_t>() == n - 2);
    CHECK(max(where(places(n) == n - 2, 255, x)).item<int>() == 255);
    const std::int64_t half = n / 2;
    const Array even = x(slice(0, 2 * half));
    const Array few = even.reshape({2, half}), many = even.reshape({half, 2});
    const Array sums = sum(few.astype(DType::u64), 1);
    const std::uint64_t rest = total - x(n - 1).item<std::uint64_t>();  // n is odd
    CHECK(sums(0).item<std::uint64_t>() + sums(1).item<std::uint64_t>() == rest);
    CHECK(sum(sum(many.astype(DType::u64), 0)).item<std::uint64_t>() == rest);
    const Array i = places(half);
    CHECK(same(max(many, 1).eval(), maximum(pattern(i * 2), pattern(i * 2 + 1))));
    CHECK(same(max(few, 0).eval(), maximum(pattern(i), pattern(i + half))));
  });
}

TEST_CASE("a sum of 10^9 ones in float32 is exact") {
  constexpr std::int64_t count = 1'000'000'000;
  CHECK(sum(ones<float>({count})).item<float>() == 1e9f);
  CHECK(mean(ones<float>({count})).item<float>() == 1.0f);
  const Array rows = sum(ones<float>({4, count / 4}), 1);
  CHECK(all(rows == 2.5e8f).item<bool>());
  const Array columns = sum(ones<float>({count / 4, 4}), 0);
  CHECK(all(columns == 2.5e8f).item<bool>());
}

TEST_CASE("scans beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const Array x = bytes(n);
    const auto running = [](const Array& of, int axis) {
      return cumulative_sum(of, axis, DType::u8).eval();
    };
    const Array sums = running(x, 0);
    CHECK(sums(0).item<int>() == x(0).item<int>());
    CHECK(same(sums(slice(1, {})) - sums(slice(0, -1)), x(slice(1, {}))));
    const std::int64_t half = n / 2;
    const Array rows = x(slice(0, 2 * half)).reshape({half, 2});
    const Array down = running(rows, 0);
    CHECK(same(down(slice(1, {})) - down(slice(0, -1)), rows(slice(1, {}))));
    const Array across = running(rows, 1);
    CHECK(same(across(_, 1) - across(_, 0), rows(_, 1)));
  });
}

TEST_CASE("gathers and scatters beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const Array x = bytes(n);
    CHECK(same(take(x, n - 1 - places(n)).eval(), pattern(n - 1 - places(n))));
    const Array far = n - 1 - places(1000) * (n / 1000);
    CHECK(same(take(x, far.eval()), pattern(far)));
    Array y = x;
    put(y, far.eval(), 255);
    CHECK(count_nonzero(y == 255).item<std::int64_t>() == 1000);
    CHECK(same(take(y, far), full({1000}, 255).astype(DType::u8)));
    const Array counts = bincount(x.astype(DType::i64));
    CHECK(sum(counts).item<std::int64_t>() == n);
    CHECK(sum(counts * places(251)).item<std::uint64_t>() == sum_in_pieces(x));
    check<std::int64_t>(flatnonzero((places(n) % (n - 7)) == 5), {2}, {5, n - 2});
  });
}

TEST_CASE("sorts and searches beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const Array x = bytes(n);
    const Array sorted = sort(x).eval();
    CHECK(all(sorted(slice(1, {})) >= sorted(slice(0, -1))).item<bool>());
    const Array counts = bincount(x.astype(DType::i64));
    CHECK(same(searchsorted(sorted, arange<std::uint8_t>(251), "right"), cumsum(counts)));
    CHECK(sum_in_pieces(sorted) == sum_in_pieces(x));
  });
}

TEST_CASE("neighbours and parts beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const Array x = bytes(n);
    const auto from = [n](std::int64_t first) { return pattern(places(n - 2) + first); };
    CHECK(same((x(slice(2, {})) - x(slice(0, -2)) + x(slice(1, -1))).eval(),
               from(2) - from(0) + from(1)));
    const Array turned = roll(x, 5).eval();
    CHECK(same(turned(slice(0, 5)), pattern(places(5) + (n - 5))));
    CHECK(same(turned(slice(5, {})), pattern(places(n - 5))));
  });
}

TEST_CASE("rows used again after their reduction, beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const std::int64_t columns = 1023, rows = n / columns;
    const Array x = bytes(rows * columns).reshape({rows, columns});
    const Array most = max(x, 1, true).eval(), rest = (max(x, 1, true) - x).eval();
    CHECK(same(rest + x, broadcast_to(most, {rows, columns})));
    const Array wide = x.reshape({columns, rows}), down = (wide - min(wide, 0, true)).eval();
    CHECK(same(down + min(wide, 0).eval(), wide));
  });
}

/// Products of small integers in float16, with sums below 2048, are exact. Two bytes an element:
/// half as many elements as the others count, at the usual sizes of a GPU 2^31 and a few more.
TEST_CASE("products of matrices beyond 2^31") {
  for_sizes([](std::int64_t n) {
    const std::int64_t depth = 33, rows = n / depth;
    const Array a = (pattern(places(rows * depth)) % 4).astype(DType::f16).eval();
    const Array ones_of = ones<float>({depth, 2}).astype(DType::f16).eval();
    const Array sums = matmul(a.reshape({rows, depth}), ones_of).eval();
    const Array wanted = sum(a.reshape({rows, depth}), 1);
    CHECK(same(sums(_, 0), wanted));
    CHECK(same(sums(_, 1), wanted));
    const std::int64_t few = 257, many = n / few;
    const Array left = (places(few) % 5).astype(DType::f16).reshape({few, 1});
    const Array right = (places(many) % 7).astype(DType::f16).reshape({1, many});
    CHECK(same(matmul(left.eval(), right.eval()), left * right));
  });
}

TEST_CASE("shapes of more elements than 64 bits count are errors") {
  const std::int64_t huge = std::int64_t{1} << 32;
  CHECK_THROWS_AS(zeros<std::uint8_t>({huge, huge}), ShapeError);
  CHECK_THROWS_AS(broadcast_to(ones<double>({1}), {huge, huge / 2}), ShapeError);
  CHECK_THROWS_AS(ones<float>({huge, 1}) + ones<float>({1, huge}), ShapeError);
}

}  // namespace
