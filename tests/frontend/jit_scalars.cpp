#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::line_mark;
using hd::test::message_of;

namespace {

std::uint64_t traces() { return hd::statistics().traces; }

}  // namespace

TEST_CASE("a scalar argument stays weak through arithmetic") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& s) { return x * (1 - s * 2.0); });
  CHECK(f(hd::ones<float>({2}), 0.25).dtype() == hd::float32);
  CHECK(f(hd::ones({2}, hd::float16), 0.25).dtype() == hd::float16);
  CHECK(f(hd::ones<int>({2}), 0.25).dtype() == hd::float64);
  const auto g = hd::jit([](const hd::Array& x, const hd::Array& n) { return x + n; });
  CHECK(g(hd::ones<std::int8_t>({2}), 3).dtype() == hd::int8);
  CHECK_THROWS_AS(g(hd::ones<std::int8_t>({2}), 300), hd::DTypeError);
}

namespace {

/// The six comparisons of x and s, either way round.
std::vector<hd::Array> comparisons(const hd::Array& x, const auto& s) {
  return {x<s, x <= s, x> s, x >= s, x == s, x != s, s<x, s <= x, s> x, s >= x, s == x};
}

}  // namespace

TEST_CASE("comparisons with integer scalar arguments are exact beyond the array's dtype") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& s) { return comparisons(x, s); });
  const hd::Array u8 = hd::array<std::uint8_t>({0, 1, 200, 255});
  const hd::Array i64 = hd::array<std::int64_t>({-5, 0, INT64_MAX});
  const hd::Array u64 = hd::array<std::uint64_t>({0, 5, UINT64_MAX});
  for (const hd::Array& x : {u8, i64, u64}) {
    const std::uint64_t before = traces();
    const auto check_scalar = [&](auto s) {
      CAPTURE(s);
      const std::vector<hd::Array> eager = comparisons(x, s), jitted = f(x, s);
      for (std::size_t i = 0; i < eager.size(); ++i) {
        CAPTURE(i);
        CHECK(jitted[i].to_vector<bool>() == eager[i].to_vector<bool>());
      }
    };
    for (const int s : {0, 300, -1, 255, 256, 1, -1000000, 70000}) check_scalar(s);
    for (const std::uint64_t s : {std::uint64_t{7}, UINT64_MAX, std::uint64_t{200}}) {
      check_scalar(s);
    }
    CHECK(traces() <= before + 5);  // below, within and above; unsigned within and above
  }
}

TEST_CASE("integer scalars that fit never trace again, and others throw where they are used") {
  const auto add = hd::jit([](const hd::Array& x, const hd::Array& s) { return x + s; });
  const int line = __LINE__ - 1;
  const hd::Array x = hd::array<std::uint8_t>({1, 200});
  const std::uint64_t before = traces();
  for (int s = 0; s < 50; ++s) add(x, s);
  add(x, 255);
  CHECK(traces() == before + 1);
  for (const int s : {-1, 256, 300}) {
    const std::string text = message_of<hd::DTypeError>([&] { add(x, s); });
    CHECK(contains(text, "add: the integer " + std::to_string(s) + " does not fit uint8"));
    CHECK(contains(text, line_mark(line)));
  }
  check<std::uint8_t>(add(x, 1), {2}, {2, 201});
  CHECK_THROWS_AS(add(hd::array<std::int64_t>({1}), UINT64_MAX), hd::DTypeError);
  CHECK(add(hd::array<std::uint64_t>({0}), UINT64_MAX).item<std::uint64_t>() == UINT64_MAX);

  const auto pick = hd::jit([](const hd::Array& x, const hd::Array& s) {
    hd::Array y = hd::where(x > 1, s, x);
    y.at(0) = s;
    return y;
  });
  check<std::uint8_t>(pick(x, 9), {2}, {9, 9});
  const std::string text = message_of<hd::DTypeError>([&] { pick(x, 256); });
  CHECK(contains(text, line_mark(__LINE__ - 6)));
}

TEST_CASE("integer scalars given to a jitted function inside another are checked") {
  const auto inner = hd::jit([](const hd::Array& x, const hd::Array& s) { return x + s; });
  const int line = __LINE__ - 1;
  const auto call = [&](auto s) {
    return hd::jit([&](const hd::Array& x) { return inner(x, s); })(
        hd::array<std::uint8_t>({1, 200}));
  };
  check<std::uint8_t>(call(50), {2}, {51, 250});
  CHECK(call(0.5).dtype() == hd::float64);
  for (const int s : {-1, 300}) {
    CHECK(contains(message_of<hd::DTypeError>([&] { call(s); }), line_mark(line)));
  }
  CHECK_THROWS_AS(call(UINT64_MAX), hd::DTypeError);
  const auto less = hd::jit([](const hd::Array& x, const hd::Array& s) { return x < s; });
  const auto outer = hd::jit([&](const hd::Array& x) { return less(x, 300); });
  check<bool>(outer(hd::array<std::uint8_t>({1, 200})), {2}, {true, true});
}

TEST_CASE("integers computed from scalar arguments are checked where they meet an array") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& s) {
    hd::Array twice = s;
    for (int i = 0; i < 3; ++i) twice = twice + s;
    return x + (twice - 1);
  });
  const int line = __LINE__ - 2;
  const hd::Array x = hd::array<std::uint8_t>({1, 2});
  const std::uint64_t before = traces();
  for (int s = 1; s < 40; ++s) f(x, s);
  check<std::uint8_t>(f(x, 64), {2}, {0, 1});
  CHECK(traces() == before + 1);
  for (const int s : {0, 65, -5}) {
    CHECK(contains(message_of<hd::DTypeError>([&] { f(x, s); }), line_mark(line)));
  }
  const auto compare = hd::jit([](const hd::Array& x, const hd::Array& s) { return x < s * 100; });
  check<bool>(compare(x, 3), {2}, {true, true});
  check<bool>(compare(x, 0), {2}, {false, false});
  check<bool>(compare(x, -1), {2}, {false, false});
  const auto power =
      hd::jit([](const hd::Array& x, const hd::Array& s) { return hd::power(x, -s); });
  check<std::uint8_t>(power(x, -3), {2}, {1, 8});
  CHECK_THROWS_AS(power(x, 1), hd::ValueError);
  // Doubling many times has too many paths to follow; such values wrap.
  const auto doubled = hd::jit([](const hd::Array& x, hd::Array s) {
    for (int i = 0; i < 100; ++i) s = s + s;
    return x + s;
  });
  check<std::uint8_t>(doubled(x, 1), {2}, {1, 2});
}

TEST_CASE("integer powers of scalar arguments must not be negative") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& s) { return hd::power(x, s); });
  const int line = __LINE__ - 1;
  const hd::Array x = hd::array({2, 3});
  const std::uint64_t before = traces();
  check<int>(f(x, 2), {2}, {4, 9});
  check<int>(f(x, 0), {2}, {1, 1});
  CHECK(traces() == before + 1);
  const std::string text = message_of<hd::ValueError>([&] { f(x, -1); });
  CHECK(contains(text, "negative integer power -1"));
  CHECK(contains(text, line_mark(line)));
  check<double>(f(hd::array({2.0, 4.0}), -1), {2}, {0.5, 0.25});
  const auto outer = hd::jit([&](const hd::Array& x) { return f(x, -1); });
  CHECK_THROWS_AS(outer(x), hd::ValueError);
}

TEST_CASE("a scalar argument that is cast is an array of that dtype") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& s) {
    return std::pair(s.astype(hd::uint8), x + s.astype(hd::int64));
  });
  const auto [wrapped, wide] = f(hd::array<std::uint8_t>({1}), 300);
  check<std::uint8_t>(wrapped, {}, {44});
  check<std::int64_t>(wide, {1}, {301});
}
