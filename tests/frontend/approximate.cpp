#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "values.h"

// What docs/guide/numerics.md promises of `approximate`, against float64. On the CPU, where the
// option changes nothing, the bounds hold by far.

namespace {

constexpr std::size_t count = 1 << 16;

/// Units in the last place of a float32 of the value's size.
double ulp(double value) {
  const double size = std::max(std::abs(value), 0x1p-126);
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

struct Promise {
  const char* name;
  hd::Array (*compute)(const hd::Array& x, const hd::Array& y);
  double (*exact)(double x, double y);
  double smallest, largest;                     ///< of the first operand
  double (*allowed)(double x, double exactly);  ///< error
};

double two_ulp(double, double exactly) { return 2.5 * ulp(exactly); }
double of_exponential(double x, double exactly) { return (2.5 + 1.2 * std::abs(x)) * ulp(exactly); }
double of_logarithm(double x, double exactly) {
  return x >= 0.5 && x <= 2 ? 0x1p-21 : 3.5 * ulp(exactly);
}

void keep(const Promise& promise) {
  CAPTURE(promise.name);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> first(static_cast<float>(promise.smallest),
                                              static_cast<float>(promise.largest));
  std::uniform_real_distribution<float> second(0.1F, 100);
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = first(random), y[i] = second(random);
  const auto function = hd::jit(promise.compute, {.name = promise.name, .approximate = true});
  const std::vector<float> got = function(hd::array(x), hd::array(y)).to_vector<float>();
  std::size_t broken = 0;
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double exactly = promise.exact(x[i], y[i]);
    const double error = std::abs(got[i] - exactly), allowed = promise.allowed(x[i], exactly);
    worst = std::max(worst, error / allowed);
    broken += error <= allowed ? 0 : 1;
  }
  CAPTURE(worst);
  CHECK(broken == 0);
}

}  // namespace

TEST_CASE("approximate functions keep the accuracy that is promised") {
  using A = hd::Array;
  const Promise promises[] = {
      {"exp", [](const A& x, const A&) { return hd::exp(x); },
       [](double x, double) { return std::exp(x); }, -80, 80, of_exponential},
      {"log", [](const A& x, const A&) { return hd::log(x); },
       [](double x, double) { return std::log(x); }, 1e-3, 4, of_logarithm},
      {"log of large numbers", [](const A& x, const A&) { return hd::log(x); },
       [](double x, double) { return std::log(x); }, 2, 1e30, of_logarithm},
      {"log2", [](const A& x, const A&) { return hd::log2(x); },
       [](double x, double) { return std::log2(x); }, 1e-3, 4, of_logarithm},
      {"log10", [](const A& x, const A&) { return hd::log10(x); },
       [](double x, double) { return std::log10(x); }, 1e-3, 4, of_logarithm},
      {"divide", [](const A& x, const A& y) { return x / y; },
       [](double x, double y) { return x / y; }, -1e6, 1e6, two_ulp},
      {"sqrt", [](const A& x, const A&) { return hd::sqrt(x); },
       [](double x, double) { return std::sqrt(x); }, 0, 1e6, two_ulp},
  };
  for (const Promise& promise : promises) keep(promise);
}

TEST_CASE("approximate leaves float64 and what is not finite as they are") {
  const auto function = hd::jit([](const hd::Array& x) { return hd::log(hd::exp(x) / 2.0) + x; },
                                {.approximate = true});
  const auto strict = hd::jit([](const hd::Array& x) { return hd::log(hd::exp(x) / 2.0) + x; });
  const hd::Array x = hd::linspace(-30, 30, 1001);
  CHECK(function(x).to_vector<double>() == strict(x).to_vector<double>());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const hd::Array special = hd::array(std::vector<float>{-infinity, infinity, NAN, -0.0F});
  const std::vector<float> got = function(special).to_vector<float>();
  CHECK(got[0] == -infinity);
  CHECK(got[1] == infinity);
  CHECK(std::isnan(got[2]));
  CHECK(std::abs(got[3] + std::log(2.0F)) < 1e-6F);
}
