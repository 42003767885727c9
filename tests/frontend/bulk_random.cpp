#include <numbers>
#include <set>

#include "runtime/cuda/libraries/curand.h"
#include "tests/frontend/distributions.h"
#include "tests/frontend/values.h"

namespace heddle::test {
namespace {

constexpr const char* pseudo[] = {"xorwow", "mrg32k3a", "philox"};
constexpr const char* quasi[] = {"sobol32", "scrambled_sobol32", "sobol64", "scrambled_sobol64"};

bool has_curand() {
  if (runtime::curand_unavailable_reason().empty()) return true;
  CHECK_THROWS_AS(random::bulk("xorwow"), DeviceError);
  MESSAGE("there is no cuRAND here");
  return false;
}

TEST_CASE("bulk generators are checked by name, and need their library") {
  CHECK_THROWS_AS(random::bulk("mt19937"), ValueError);
  CHECK_THROWS_AS(random::bulk("xorwow", 1, 2), ValueError);
  CHECK_THROWS_AS(random::bulk("sobol32", 0, 0), ValueError);
  CHECK_THROWS_AS(random::bulk("sobol32", 0, 20'001), ValueError);
  if (!has_curand()) return;
  random::Bulk bulk = random::bulk("philox", 3);
  CHECK(bulk.name() == "philox");
  CHECK_THROWS_AS(bulk.uniform({2}, DType::f16), DTypeError);
  CHECK_THROWS_AS(bulk.normal(0, -1, {2}), ValueError);
  CHECK_THROWS_AS(random::bulk("sobol32", 0, 3).uniform({9}), ShapeError);
  const auto traced = jit([&](const Array& x) { return x + bulk.uniform({3}); });
  CHECK_THROWS_AS(traced(arange(3)), TraceError);
  CHECK(bulk.bits({0, 3}).shape() == Shape{0, 3});
  CHECK(bulk.normal().shape().empty());
}

TEST_CASE("bulk generators fill arrays with their distributions, and go on") {
  if (!has_curand()) return;
  for (const char* name : pseudo) {
    CAPTURE(name);
    random::Bulk bulk = random::bulk(name, 5), again = random::bulk(name, 5);
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Array uniform = bulk.uniform({100'000}, dtype);
      CHECK(uniform.dtype() == dtype);
      check_distribution(uniform, [](double x) { return x; });
      CHECK(array_equal(uniform, again.uniform({100'000}, dtype)));
      // Of an odd number, which the library does not give.
      const Array normal = bulk.normal(1, 2, {333, 301}, dtype);
      CHECK(normal.shape() == Shape{333, 301});
      check_distribution(normal.ravel(), [](double x) {
        return 0.5 * std::erfc(-(x - 1) / 2 / std::numbers::sqrt2);
      });
      CHECK(array_equal(normal, again.normal(1, 2, {333, 301}, dtype)));
    }
    const auto words = bulk.bits({1000}).to_vector<std::uint32_t>();
    CHECK(std::set(words.begin(), words.end()).size() > 990);
    CHECK(random::bulk(name, 6).bits({1000}).to_vector<std::uint32_t>() != words);
  }
}

TEST_CASE("Sobol's sequences fill the space evenly, in each dimension") {
  if (!has_curand()) return;
  constexpr std::int64_t points = 4096, cells = 64;
  for (const char* name : quasi) {
    CAPTURE(name);
    const Array both = random::bulk(name, 0, 2).uniform({points, 2});
    CHECK(both.shape() == Shape{points, 2});
    // Each elementary interval of a net in base 2 has as many points as any other.
    const Array cell = minimum(floor(both * 8.0), 7.0).astype<std::int64_t>();
    const Array counts = bincount((cell(_, 0) * 8 + cell(_, 1)).eval(), cells);
    CHECK(max(absolute(counts - points / cells)).item<int>() <= 2);
    const bool wide = std::string(name).find("64") != std::string::npos;
    CHECK(random::bulk(name).bits({4}).dtype() == (wide ? DType::u64 : DType::u32));
    // What is left out is what would have come first.
    const Array rest = random::bulk(name, 96, 2).uniform({points - 96, 2});
    CHECK(array_equal(both(slice(96, points)), rest));
    check_distribution(random::bulk(name).normal(0, 1, {points - 1}),
                       [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); });
  }
}

}  // namespace
}  // namespace heddle::test
