// Prices of options: by the formula of Black and Scholes, and by random paths of the share. Random
// numbers are made in the kernel that uses them, and are the same in every language and on every
// device.

#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr double spot = 100.0, rate = 0.03, volatility = 0.25, years = 1.0;

hd::Array normal_cdf(const hd::Array& x) { return 0.5 * (1 + hd::erf(x / std::numbers::sqrt2)); }

/// European calls.
hd::Array black_scholes(const hd::Array& strikes) {
  const double deviation = volatility * std::sqrt(years);
  const hd::Array d1 =
      (hd::log(spot / strikes) + (rate + volatility * volatility / 2) * years) / deviation;
  const hd::Array discounted = strikes * std::exp(-rate * years);
  return spot * normal_cdf(d1) - discounted * normal_cdf(d1 - deviation);
}

struct Paths {
  hd::Array price;  // now
  hd::Array total;  // the sum of the prices so far
};
HEDDLE_STRUCT(Paths, price, total)

/// All paths after dt years. Each call draws new numbers.
Paths step(hd::random::Generator& rng, Paths paths, const hd::Array& dt) {
  const hd::Array noise = rng.standard_normal(paths.price.shape());
  const double drift = rate - volatility * volatility / 2;
  paths.price *= hd::exp(drift * dt + volatility * hd::sqrt(dt) * noise);
  paths.total += paths.price;
  return paths;
}

/// The mean discounted payoff for each strike, and its standard error.
struct Calls {
  hd::Array price, error;
};
HEDDLE_STRUCT(Calls, price, error)

Calls call_prices(const hd::Array& price, const hd::Array& strikes) {
  const hd::Array payoff =
      std::exp(-rate * years) * hd::maximum(price - strikes(hd::_, hd::newaxis), 0);
  const auto count = static_cast<double>(price.size());
  return {hd::mean(payoff, 1), hd::std(payoff, 1) / std::sqrt(count)};
}

void run(const Options& options) {
  hd::random::Generator rng = hd::random::default_rng(2024);
  const auto advance =
      hd::jit([&rng](Paths paths, const hd::Array& dt) { return step(rng, std::move(paths), dt); },
              {.name = "step"});
  const auto calls = hd::jit(call_prices, {.name = "call_prices"});

  const hd::Array strikes = hd::linspace(60.0, 140.0, 33);
  const hd::Array exact = hd::jit(black_scholes, {.name = "black_scholes"})(strikes);
  Paths paths{hd::full({options.size}, spot), hd::zeros<double>({options.size})};
  const auto steps = static_cast<double>(options.steps);
  for (int i = 0; i < options.steps; ++i) paths = advance(std::move(paths), years / steps);
  const Calls european = calls(paths.price, strikes);
  const Calls asian = calls(paths.total / steps, strikes);

  std::printf("strike 100: Black-Scholes %.5f\n", exact(16).item<double>());
  std::printf("%lld paths of %lld steps: %.5f, on the mean price %.5f\n",
              static_cast<long long>(options.size), static_cast<long long>(options.steps),
              european.price(16).item<double>(), asian.price(16).item<double>());
  const hd::Array off = hd::max(hd::abs(european.price - exact) / european.error);
  std::printf("farthest from the formula: %.3f standard errors\n", off.item<double>());
  if (!options.out.empty()) {
    hd::save(options.out, hd::stack({strikes, exact, european.price, european.error, asian.price}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 200'000, .steps = 52}, run);
}
