#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/heddle.h"

#include "runtime/base/statistics.h"
#include "tests/runtime/helpers.h"
#include "values.h"

namespace hd = heddle;

namespace {

std::uint64_t programs() { return hd::runtime::statistics().programs_made; }

double triangle(std::int64_t n) { return static_cast<double>(n) * static_cast<double>(n - 1) / 2; }

}  // namespace

TEST_CASE("a jitted function called with 1,000 extents compiles few programs") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) {
    return std::pair(hd::mean(x * y, {-1}), hd::sum(x) + hd::sum(y));
  });
  const std::uint64_t before = programs();
  for (std::int64_t n = 1; n <= 1000; ++n) {
    const hd::Array x = hd::full({2, n}, 3.0f), y = hd::ones<float>({n});
    const auto [mean, total] = f(x, y);
    REQUIRE(mean.shape() == hd::Shape{2});
    if (n % 83 > 2) continue;
    REQUIRE(mean(1).item<float>() == 3);
    REQUIRE(total.item<float>() == static_cast<float>(7 * n));
  }
  // Those of full and ones as well.
  CHECK(programs() - before <= 9);
}

TEST_CASE("a line of lazy code with 1,000 extents compiles few programs") {
  const std::uint64_t before = programs();
  for (std::int64_t n = 0; n < 1000; ++n) {
    const hd::Array x = hd::arange(0.0, static_cast<double>(n), 1.0, hd::DType::f64);
    const double total = hd::sum(x).item<double>();
    REQUIRE(total == triangle(n));
  }
  CHECK(programs() - before <= 6);
}

TEST_CASE("an index of -1 reads the last element for every extent") {
  const auto f = hd::jit([](const hd::Array& x) { return hd::sum(x) + x(-1) * 100.0f; });
  for (std::int64_t n = 2; n < 30; ++n) {
    const hd::Array x = hd::arange(0.0, static_cast<double>(n), 1.0, hd::DType::f32);
    REQUIRE(f(x).item<float>() ==
            static_cast<float>(triangle(n)) + 100 * static_cast<float>(n - 1));
  }
}

TEST_CASE("slices of half an extent n + 1 are right for every n") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) {
    return hd::sum(x) + hd::sum(y(hd::slice((x.shape(0) + 1) / 2)));
  });
  for (std::int64_t n = 5; n < 25; n += 2) {
    const float total = f(hd::ones<float>({n}), hd::ones<float>({n + 1})).item<float>();
    REQUIRE(total == static_cast<float>(n + (n + 1) / 2));
  }
}

TEST_CASE("a power does not depend on the exponents of earlier calls") {
  const auto f = hd::jit([](const hd::Array& x) { return hd::power(x + 1.0f, 0.5 * x.shape(0)); });
  const auto at = [&](std::int64_t n) { return f(hd::full({n}, 2.3f))(0).item<float>(); };
  const auto g = hd::jit([](const hd::Array& x) { return hd::power(x + 1.0f, 0.5 * x.shape(0)); });
  const float first = g(hd::full({6}, 2.3f))(0).item<float>();
  at(4);
  at(5);
  CHECK(at(6) == first);
}

TEST_CASE("donated memory is used for every extent") {
  const auto f = hd::jit([](const hd::Array& x) { return x * 2.0f + 1.0f; }, {.donate = {0}});
  for (std::int64_t n = 2; n < 20; ++n) {
    hd::Array x = hd::full({n}, static_cast<float>(n));
    x.eval();
    const hd::Array y = f(std::move(x));
    REQUIRE(hd::all(y == static_cast<float>(2 * n + 1)).item<bool>());
  }
}

TEST_CASE("numbers computed from extents are those of the current call") {
  const auto f = hd::jit([](const hd::Array& x) {
    const std::int64_t n = x.shape(0);
    const hd::Array scaled = x * (1.0 / static_cast<double>(n + 1));
    return n % 2 == 0 ? scaled.reshape({n / 2, 2}) : scaled.reshape({n, 1});
  });
  for (std::int64_t n = 1; n < 30; ++n) {
    const hd::Array y = f(hd::full({n}, static_cast<float>(n + 1)));
    REQUIRE(y.shape() == (n % 2 == 0 ? hd::Shape{n / 2, 2} : hd::Shape{n, 1}));
    REQUIRE(hd::all(hd::abs(y - 1.0f) < 1e-6f).item<bool>());
  }
}

TEST_CASE("lazy code that is run again compiles nothing") {
  const hd::Array x = hd::reshape(hd::arange(0.0, 240.0, 1.0, hd::DType::f64), {20, 12});
  x.eval();
  const auto at = [](const hd::Array& a, std::int64_t i) { return a(i); };
  const std::vector<std::function<hd::Array()>> pieces = {
      [&] { return at(x, 0) * at(x, 1) - 1.0; },
      [&] {
        hd::Array y = x * 1.0;
        for (std::int64_t i = 1; i < 20; ++i) y.at(i) = at(y, i - 1) * 0.5 + at(y, i);
        return y;
      },
      [&] {
        double total = 0;
        for (std::int64_t i = 0; i < 9; ++i)
          total += hd::sum(x(i, hd::slice(i, i + 3))).item<double>();
        return x + total;
      },
      [&] {
        hd::Array y = hd::zeros({6, 6}, hd::DType::f64);
        for (std::int64_t i = 0; i < 6; ++i) {
          for (std::int64_t j = 0; j < 6; ++j)
            y.at(i, j) = hd::sum(x(hd::slice(2 * i, 2 * i + 3), hd::slice(j, j + 3)) * 2.0);
        }
        return y;
      },
      [&] {
        hd::Array y = x * 1.0;
        for (std::int64_t i = 1; i < 15; ++i) y.at(i, 0) = hd::sum(x(hd::slice(0, i), 1));
        return y;
      }};
  for (const std::function<hd::Array()>& piece : pieces) {
    CAPTURE(&piece - pieces.data());
    std::uint64_t before = programs();
    const hd::Array first = piece();
    first.eval();
    CHECK(programs() > before);
    for (int call = 1; call < 5; ++call) {
      before = programs();
      const hd::Array again = piece();
      again.eval();
      CHECK(programs() == before);
      CHECK(hd::all(again == first).item<bool>());
    }
  }
}

TEST_CASE("a function traced again for each value of an integer argument causes a warning") {
  const hd::test::CapturedLog captured;
  const auto f = hd::jit(
      [](const hd::Array& x, int times) {
        hd::Array y = x;
        for (int i = 0; i < times; ++i) y = hd::tanh(y);
        return y;
      },
      {.name = "repeated"});
  const hd::Array x = hd::ones<float>({3});
  for (int times = 1; times < 20; ++times) f(x, times);
  CHECK(captured.text().find("16 programs were made for repeated at") != std::string::npos);
}
