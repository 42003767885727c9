#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"
#include "tests/frontend/distributions.h"
#include "tests/frontend/values.h"

namespace heddle::test {
namespace {

TEST_CASE("philox gives the numbers that its authors publish") {
  CHECK(heddle_scalar::philox(0, 0) == 0xe169c58d6627e8d5ull);
  check<std::uint64_t>(philox(array<std::uint64_t>({0, 0}), array<std::uint64_t>({0, 1})), {2},
                       {0xe169c58d6627e8d5ull, 0x9b00dbd8bc57ac4cull});
  CHECK_THROWS_AS(philox(array({1.0}), 1), DTypeError);
}

TEST_CASE("two neighbouring normal numbers are the sides of one radius") {
  constexpr std::int64_t pairs = 50'000;
  const Array counter = arange(0, 2 * pairs, 1, DType::u64);
  const Array numbers = philox_normal(7, counter);
  CHECK(numbers.dtype() == DType::f32);
  check_moments(numbers, 0, 1);
  // Half of the square of a radius is an exponential number.
  check_moments(sum(square(numbers.reshape({pairs, 2})), 1) * 0.5f, 1, 1, 9);
  CHECK(all(philox_normal(7, counter(slice(6, 9))) == numbers(slice(6, 9))).item<bool>());
  CHECK(any(philox_normal(8, counter) != numbers).item<bool>());
  CHECK_THROWS_AS(philox_normal(array({1.0}), 1), DTypeError);
}

TEST_CASE("equal seeds give equal numbers, and draws, elements and children differ") {
  random::Generator a(7), b(7), c(8);
  const auto first = a.bits({1000}).to_vector<std::uint64_t>();
  CHECK(first == b.bits({1000}).to_vector<std::uint64_t>());
  const auto second = a.bits({1000}).to_vector<std::uint64_t>();
  std::set<std::uint64_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  for (const std::uint64_t one : c.bits({1000}).to_vector<std::uint64_t>()) all.insert(one);
  for (random::Generator& child : a.spawn(2)) {
    for (const std::uint64_t one : child.bits({1000}).to_vector<std::uint64_t>()) all.insert(one);
  }
  CHECK(all.size() == 5000);
  CHECK(a.bits({10, 100}).shape() == Shape{10, 100});
  CHECK(random::Generator().bits().item<std::uint64_t>() !=
        random::Generator().bits().item<std::uint64_t>());
}

TEST_CASE("two draws of one line are not the same") {
  random::Generator rng(1);
  const Array difference = rng.random({100}) - rng.random({100});
  CHECK(count_nonzero(difference).item<int>() == 100);
}

TEST_CASE("each call of a jitted function draws anew, and as it would outside") {
  random::Generator inside(3), outside(3);
  const auto noisy = jit([&](const Array& x) {
    const Array noise = inside.normal(0.0, 1.0, {64}, DType::f32);
    return x + noise * inside.random({}, DType::f32);
  });
  const Array zeros = hd::zeros<float>({64});
  for (int call = 0; call < 3; ++call) {
    const Array noise = outside.normal(0.0, 1.0, {64}, DType::f32);
    CHECK(allclose(noisy(zeros), noise * outside.random({}, DType::f32)));
  }
  CHECK(noisy.kernel_count(zeros) == 1);
}

TEST_CASE("distributions are what they are called") {
  random::Generator rng(11);
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::vector<Drawn> cases;
    cases.push_back({"random", rng.random({many}, dtype), [](double x) { return x; }});
    cases.push_back(
        {"uniform", rng.uniform(-2.0, 3.0, {many}, dtype), [](double x) { return (x + 2) / 5; }});
    cases.push_back({"normal", rng.normal(1.0, 2.0, {many}, dtype),
                     [](double x) { return 0.5 * std::erfc(-(x - 1) / 2 / std::numbers::sqrt2); }});
    cases.push_back({"exponential", rng.exponential(2.0, {many}, dtype),
                     [](double x) { return -std::expm1(-x / 2); }});
    cases.push_back({"standard_cauchy", rng.standard_cauchy({many}, dtype),
                     [](double x) { return 0.5 + std::atan(x) / std::numbers::pi; }});
    cases.push_back({"laplace", rng.laplace(1.0, 2.0, {many}, dtype), [](double x) {
                       const double y = (x - 1) / 2;
                       return y < 0 ? std::exp(y) / 2 : 1 - std::exp(-y) / 2;
                     }});
    cases.push_back({"logistic", rng.logistic(1.0, 2.0, {many}, dtype),
                     [](double x) { return 1 / (1 + std::exp(-(x - 1) / 2)); }});
    cases.push_back({"gumbel", rng.gumbel(1.0, 2.0, {many}, dtype),
                     [](double x) { return std::exp(-std::exp(-(x - 1) / 2)); }});
    cases.push_back({"rayleigh", rng.rayleigh(2.0, {many}, dtype),
                     [](double x) { return -std::expm1(-x * x / 8); }});
    cases.push_back({"weibull", rng.weibull(1.5, {many}, dtype),
                     [](double x) { return -std::expm1(-std::pow(x, 1.5)); }});
    cases.push_back({"pareto", rng.pareto(3.0, {many}, dtype),
                     [](double x) { return 1 - std::pow(1 + x, -3.0); }});
    cases.push_back(
        {"power", rng.power(2.5, {many}, dtype), [](double x) { return std::pow(x, 2.5); }});
    cases.push_back({"triangular", rng.triangular(0.0, 1.0, 3.0, {many}, dtype),
                     [](double x) { return x < 1 ? x * x / 3 : 1 - (3 - x) * (3 - x) / 6; }});
    cases.push_back({"lognormal", rng.lognormal(0.0, 0.5, {many}, dtype), [](double x) {
                       return 0.5 * std::erfc(-std::log(x) / 0.5 / std::numbers::sqrt2);
                     }});
    check_all(cases, check_distribution);
    check_moments(rng.standard_normal({many}, dtype), 0, 1);
    check_moments(rng.standard_exponential({many}, dtype), 1, 1, 9);
  }
  check_moments(rng.geometric(0.25, {many}), 4, 12, 9.1);
  CHECK(rng.geometric(1.0, {10}).to_vector<int>() == std::vector<int>(10, 1));
  check_moments(rng.standard_normal({many}, DType::f16), 0, 1);
  CHECK(rng.normal(0.0, 1.0, {4}, DType::bf16).dtype() == DType::bf16);
}

TEST_CASE("integers cover their range evenly, in every dtype") {
  random::Generator rng(5);
  std::vector<int> counts(7);
  for (const int value : rng.integers(-3, 4, {70'000}).to_vector<int>()) ++counts.at(value + 3);
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 6 * 93);
  for (const DType dtype : {DType::i8, DType::u8, DType::i16, DType::u32, DType::i32, DType::u64}) {
    const Array sample = rng.integers(5, 7, {1000}, dtype, true);
    CHECK(sample.dtype() == dtype);
    CHECK(min(sample).item<int>() == 5);
    CHECK(max(sample).item<int>() == 7);
  }
  const Array whole =
      rng.integers(std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max(), {1000}, DType::i64, true);
  CHECK(std::abs(sum(less(whole, 0)).item<int>() - 500) < 100);
  const Array bounds = rng.integers(array({0, 10}), array({2, 20}), {500, 2});
  CHECK(all(bounds < array({2, 20})).item<bool>());
  CHECK(rng.integers(3).shape().empty());
}

TEST_CASE("parameters broadcast, and wrong ones are told") {
  random::Generator rng(1);
  CHECK(rng.normal(zeros<float>({3, 1}), 1.0, {3, 4}).shape() == Shape{3, 4});
  CHECK(rng.uniform(zeros<float>({3, 1}), ones<float>({4})).shape() == Shape{3, 4});
  CHECK_THROWS_AS(rng.normal(zeros<float>({5}), 1.0, {3, 4}), ShapeError);
  CHECK_THROWS_AS(rng.normal(0.0, -1.0), ValueError);
  CHECK_THROWS_AS(rng.random({2}, DType::i32), DTypeError);
  CHECK_THROWS_AS(rng.integers(3, 3), ValueError);
  CHECK_THROWS_AS(rng.integers(0, 3, {2}, DType::f32), DTypeError);
  CHECK_THROWS_AS(rng.geometric(0.0), ValueError);
  CHECK_THROWS_AS(rng.triangular(1.0, 0.0, 2.0), ValueError);
  CHECK_THROWS_AS(rng.spawn(-1), ValueError);
}

}  // namespace
}  // namespace heddle::test
