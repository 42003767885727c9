#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <string>

#include "tests/frontend/distributions.h"
#include "tests/frontend/values.h"

namespace heddle::test {
namespace {

constexpr std::int64_t some = 40'000;

/// The regularized lower incomplete gamma function, by its series or its continued fraction.
double gamma_below(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-16; n += 1) sum += term *= x / n;
    return front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int i = 1; i < 10'000; ++i) {
    const double numerator = -i * (i - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return 1 - front * fraction;
}

/// The regularized incomplete beta function, by its continued fraction.
double beta_below(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_below(b, a, 1 - x);
  const double logarithm =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), fraction = d;
  const auto step = [&](double numerator) {
    d = 1 / (1 + numerator * d);
    c = 1 + numerator / c;
    fraction *= c * d;
  };
  for (int m = 1; m < 10'000; ++m) {
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return std::exp(logarithm) * fraction / a;
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double poisson_probability(double k, double mean) {
  return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
}

/// A mixture of central distributions by a Poisson number, as the non-central ones are.
template <class Below>
double mixture(double noncentrality, const Below& below) {
  double sum = 0;
  for (int k = 0; k < 60; ++k) sum += poisson_probability(k, noncentrality / 2) * below(k);
  return sum;
}

double vonmises_below(double x, double kappa) {
  constexpr int steps = 100;
  const double width = (x + std::numbers::pi) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i)
    sum += std::exp(kappa * (std::cos(-std::numbers::pi + (i + 0.5) * width) - 1));
  return sum * width;
}

TEST_CASE("gamma and beta of all shapes, and what is made of them") {
  random::Generator rng(21);
  const Shape size = {some};
  std::vector<Drawn> cases;
  for (const double shape : {0.05, 0.3, 1.0, 1.7, 30.0}) {
    cases.push_back({"gamma", rng.standard_gamma(shape, size),
                     [=](double x) { return gamma_below(shape, x); }});
  }
  cases.push_back({"gamma f32", rng.gamma(2.5, 3.0, size, DType::f32),
                   [](double x) { return gamma_below(2.5, x / 3); }});
  cases.push_back({"gamma 10^12", rng.standard_gamma(1e12, size),
                   [](double x) { return normal_below((x - 1e12) / 1e6); }});
  for (const auto& [a, b] : {std::pair(0.2, 0.3), std::pair(1.0, 4.0), std::pair(7.0, 0.8)}) {
    cases.push_back(
        {"beta", rng.beta(a, b, size), [a = a, b = b](double x) { return beta_below(a, b, x); }});
  }
  cases.push_back(
      {"chisquare", rng.chisquare(3, size), [](double x) { return gamma_below(1.5, x / 2); }});
  cases.push_back({"noncentral_chisquare", rng.noncentral_chisquare(0.7, 4.0, size), [](double x) {
                     return mixture(4, [=](int k) { return gamma_below(0.35 + k, x / 2); });
                   }});
  check_all(cases, check_distribution);
}

TEST_CASE("Student's, Fisher's, Wald's and von Mises's distributions") {
  random::Generator rng(22);
  const Shape size = {some};
  std::vector<Drawn> cases;
  cases.push_back({"f", rng.f(5, 7.5, size),
                   [](double x) { return beta_below(2.5, 3.75, 5 * x / (5 * x + 7.5)); }});
  cases.push_back({"noncentral_f", rng.noncentral_f(3.0, 8.0, 2.0, size), [](double x) {
                     return mixture(
                         2, [=](int k) { return beta_below(1.5 + k, 4, 3 * x / (3 * x + 8)); });
                   }});
  cases.push_back({"standard_t", rng.standard_t(3.5, size), [](double x) {
                     const double tail = beta_below(1.75, 0.5, 3.5 / (3.5 + x * x)) / 2;
                     return x < 0 ? tail : 1 - tail;
                   }});
  cases.push_back({"wald", rng.wald(2.0, 3.0, size), [](double x) {
                     const double root = std::sqrt(3 / x);
                     return normal_below(root * (x / 2 - 1)) +
                            std::exp(3.0) * normal_below(-root * (x / 2 + 1));
                   }});
  for (const double kappa : {1e-9, 1e-6, 0.5, 4.0, 1e7}) {
    const double whole = kappa > 1e6 ? 1 : vonmises_below(std::numbers::pi, kappa);
    cases.push_back({"vonmises", rng.vonmises(0.0, kappa, {10'000}), [=](double x) {
                       return kappa > 1e6 ? normal_below(x * std::sqrt(kappa))
                                          : vonmises_below(x, kappa) / whole;
                     }});
  }
  check_all(cases, check_distribution);
  const Array turned = rng.vonmises(3.0, 1.0, size);
  CHECK(all(logical_and(turned >= -std::numbers::pi, turned < std::numbers::pi)).item<bool>());
  CHECK(mean(cos(turned - 3.0)).item<double>() == doctest::Approx(0.4464).epsilon(0.03));
}

/// Pearson's test, of cells with at least 10 expected and one of all others, by Wilson and
/// Hilferty's normal approximation: beyond six deviations.
void check_counts(const Array& sample, const std::function<double(double)>& probability) {
  CHECK(sample.dtype() == DType::i64);
  std::map<std::int64_t, double> found;
  const std::vector<std::int64_t> values = sample.to_vector<std::int64_t>();
  for (const std::int64_t value : values) found[value] += 1;
  const auto count = static_cast<double>(values.size());
  double sum = 0, cells = 0, rest_found = count, rest_expected = count;
  for (std::int64_t k = found.begin()->first; k <= found.rbegin()->first; ++k) {
    const double expected = count * probability(static_cast<double>(k));
    if (expected < 10) continue;
    const double seen = found.contains(k) ? found[k] : 0;
    sum += (seen - expected) * (seen - expected) / expected;
    cells += 1;
    rest_found -= seen;
    rest_expected -= expected;
    if (cells > 5000) break;
  }
  CHECK(std::abs(rest_found - rest_expected) < 6 * std::sqrt(std::max(rest_expected, 6.0)));
  if (cells < 2) return;
  const double spread = 2 / (9 * cells);
  CHECK((std::cbrt(sum / cells) - (1 - spread)) / std::sqrt(spread) < 6);
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}
double binomial_probability(double k, double n, double p) {
  if (k < 0 || k > n) return 0;
  return std::exp(log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
}
double hypergeometric_probability(double k, double good, double bad, double sample) {
  if (k < 0 || k > good || sample - k < 0 || sample - k > bad) return 0;
  return std::exp(log_choose(good, k) + log_choose(bad, sample - k) -
                  log_choose(good + bad, sample));
}

TEST_CASE("counts of every regime") {
  random::Generator rng(23);
  const Shape size = {some};
  std::vector<Drawn> cases;
  for (const double mean : {0.01, 3.0, 9.99, 10.0, 35.5, 3000.0}) {
    cases.push_back({"poisson", rng.poisson(mean, size),
                     [=](double k) { return poisson_probability(k, mean); }});
  }
  const std::pair<int, double> binomials[] = {{10, 0.3},  {20, 0.5},   {1000, 0.004},    {25, 0.9},
                                              {100, 0.5}, {1000, 0.7}, {1'000'000, 1e-4}};
  for (const auto& [n, p] : binomials) {
    cases.push_back({"binomial", rng.binomial(n, p, size),
                     [n = n, p = p](double k) { return binomial_probability(k, n, p); }});
  }
  const std::vector<int> numbers[] = {{20, 30, 10},   {5, 5, 8},          {500, 200, 300},
                                      {200, 500, 69}, {1000, 1000, 1960}, {30, 100'000, 20'000}};
  for (const std::vector<int>& of : numbers) {
    cases.push_back({"hypergeometric", rng.hypergeometric(of[0], of[1], of[2], size),
                     [=](double k) { return hypergeometric_probability(k, of[0], of[1], of[2]); }});
  }
  check_all(cases, check_counts);
}

TEST_CASE("counts that are composed, and those of long tails") {
  random::Generator rng(24);
  const Shape size = {some};
  std::vector<Drawn> cases;
  for (const auto& [n, p] : {std::pair(3.0, 0.3), std::pair(0.5, 0.6), std::pair(40.0, 0.2)}) {
    cases.push_back(
        {"negative_binomial", rng.negative_binomial(n, p, size), [n = n, p = p](double k) {
           return std::exp(std::lgamma(n + k) - std::lgamma(n) - std::lgamma(k + 1) +
                           n * std::log(p) + k * std::log1p(-p));
         }});
  }
  // Below 2^63, which for an exponent of 1.1 leaves out some 1 in 80.
  for (const auto& [a, zeta] :
       {std::pair(1.1, 10.5844484649508 - 10 * std::exp2(-6.3)), std::pair(2.0, 1.64493406684823),
        std::pair(5.0, 1.03692775514337)}) {
    cases.push_back({"zipf", minimum(rng.zipf(a, size), 3000), [a = a, zeta = zeta](double k) {
                       return k < 3000 ? std::pow(k, -a) / zeta : 0;
                     }});
  }
  for (const double p : {0.3, 0.97}) {
    cases.push_back({"logseries", rng.logseries(p, size),
                     [=](double k) { return -std::pow(p, k) / (k * std::log1p(-p)); }});
  }
  check_all(cases, check_counts);
}

TEST_CASE("numbers of trials and means beyond 2^40") {
  random::Generator rng(25);
  const Shape size = {some};
  const Array trials = rng.binomial(std::int64_t{1} << 50, 0.25, size);
  const Array events = rng.poisson(1e15, size), hits = rng.hypergeometric(1e15, 1e15, 1e12, size);
  eval({trials, events, hits});
  check_distribution(trials, [](double x) {
    return normal_below((x - 0x1p48) / std::sqrt(0x1p50 * 0.25 * 0.75));
  });
  check_distribution(events, [](double x) { return normal_below((x - 1e15) / std::sqrt(1e15)); });
  check_distribution(hits, [](double x) { return normal_below((x - 5e11) / 5e5); });
}

/// Arrays whose elements are all one number, NaN also, checked in one program.
void check_constant(const std::vector<std::pair<Array, double>>& cases) {
  std::vector<Array> arrays;
  for (const auto& [array, number] : cases) arrays.push_back(array);
  eval(arrays);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const double number = cases[i].second;
    for (const double element : cases[i].first.to_vector<double>())
      CHECK((std::isnan(number) ? std::isnan(element) : element == number));
  }
}

TEST_CASE("ends of the ranges") {
  random::Generator rng(26);
  const Shape five = {5};
  // Shares of next to nothing are 0 or 1, not NaN.
  const Array shares = rng.beta(1e-3, 1e-3, {1000});
  const Array simplex = rng.dirichlet(array({1e-3, 1e-3, 2e-3}), {1000});
  check_constant({{rng.poisson(0.0, five), 0},
                  {rng.binomial(7, 0.0, five), 0},
                  {rng.binomial(7, 1.0, five), 7},
                  {rng.binomial(0, 0.3, five), 0},
                  {rng.negative_binomial(3, 1.0, five), 0},
                  {rng.hypergeometric(7, 0, 7, five), 7},
                  {rng.hypergeometric(0, 0, 0, five), 0},
                  {rng.hypergeometric(7, 5, 12, five), 7},
                  {rng.zipf(2000.0, five), 1},
                  {rng.logseries(0.0, five), 1},
                  {rng.standard_gamma(0.0, five), 0},
                  {rng.gamma(2.0, 0.0, five), 0},
                  {all(logical_and(shares >= 0.0, shares <= 1.0)), 1},
                  {all(absolute(sum(simplex, -1) - 1.0) < 1e-12), 1}});
}

TEST_CASE("elements outside of a range are NaN or -1") {
  random::Generator rng(27);
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const Array wrong = array({-1.0, nan, inf});
  check_constant({{rng.standard_gamma(wrong), nan},
                  {rng.vonmises(0.0, array({-1.0, nan})), nan},
                  {rng.poisson(wrong), -1},
                  {rng.binomial(wrong, 0.5), -1},
                  {rng.binomial(5, array({-0.1, 1.1, nan})), -1},
                  {rng.zipf(array({1.0, 0.5, nan})), -1},
                  {rng.logseries(array({1.0, -0.5, nan})), -1},
                  {rng.hypergeometric(array({-1, 3, 3}), array({2, -2, 2}), array({1, 1, 6})), -1},
                  {rng.poisson(array({0.0, -1.0}))(0), 0}});
}

TEST_CASE("wrong numbers, shapes and dtypes are told") {
  random::Generator rng(28);
  CHECK_THROWS_AS(rng.standard_gamma(-1.0), ValueError);
  CHECK_THROWS_AS(rng.gamma(1.0, -1.0), ValueError);
  CHECK_THROWS_AS(rng.beta(0.0, 1.0), ValueError);
  CHECK_THROWS_AS(rng.chisquare(0), ValueError);
  CHECK_THROWS_AS(rng.f(1, 0), ValueError);
  CHECK_THROWS_AS(rng.noncentral_f(1, 1, -1), ValueError);
  CHECK_THROWS_AS(rng.standard_t(std::nan("")), ValueError);
  CHECK_THROWS_AS(rng.wald(0.0, 1.0), ValueError);
  CHECK_THROWS_AS(rng.vonmises(0.0, -1.0), ValueError);
  CHECK_THROWS_AS(rng.poisson(1e19), ValueError);
  CHECK_THROWS_AS(rng.binomial(-1, 0.5), ValueError);
  CHECK_THROWS_AS(rng.negative_binomial(1, 0.0), ValueError);
  CHECK_THROWS_AS(rng.hypergeometric(3, 4, 8), ValueError);
  CHECK_THROWS_AS(rng.zipf(1.0), ValueError);
  CHECK_THROWS_AS(rng.logseries(1.0), ValueError);
  CHECK_THROWS_AS(rng.dirichlet(zeros<double>({2, 2})), ShapeError);
  CHECK_THROWS_AS(rng.multinomial(3, zeros<double>({0})), ValueError);
  CHECK_THROWS_AS(rng.binomial(zeros<double>({5}), 0.5, {3, 4}), ShapeError);
  CHECK_THROWS_AS(rng.poisson(zeros<std::complex<double>>({5})), DTypeError);
  CHECK_THROWS_AS(philox_gamma(array({1.0}), 1, 1.0), DTypeError);
  CHECK_THROWS_WITH_AS(rng.binomial(3, 1.5), doctest::Contains("binomial: the probability must be"),
                       ValueError);
}

TEST_CASE("vectors of counts and shares") {
  random::Generator rng(29);
  const Array p = array({0.2, 0.5, 0.0, 0.3});
  const Array counts = rng.multinomial(20, p, {some});
  const Array drawn = rng.multivariate_hypergeometric(array({8, 5, 7}), 9, {some});
  const Array shares = rng.dirichlet(array({0.5, 2.0, 1.5}), {some}, DType::f32);
  eval({counts, drawn, shares});
  CHECK(counts.shape() == Shape{some, 4});
  CHECK(all(sum(counts, -1) == 20).item<bool>());
  for (const auto& [i, chance] : {std::pair(0, 0.2), std::pair(1, 0.5), std::pair(3, 0.3)}) {
    check_counts(counts(_, i),
                 [chance = chance](double k) { return binomial_probability(k, 20, chance); });
  }
  CHECK(sum(counts(_, 2)).item<int>() == 0);
  CHECK(rng.multinomial(array({1, 2, 3}), p).shape() == Shape{3, 4});
  CHECK(rng.multinomial(5, array({1.0})).to_vector<int>() == std::vector{5});

  CHECK(all(sum(drawn, -1) == 9).item<bool>());
  check_counts(drawn(_, 1), [](double k) { return hypergeometric_probability(k, 5, 15, 9); });

  CHECK(shares.dtype() == DType::f32);
  CHECK(shares.shape() == Shape{some, 3});
  check_distribution(shares(_, 1), [](double x) { return beta_below(2, 2, x); });
}

TEST_CASE("samplers fuse, broadcast, repeat, and draw anew in each call of a jitted function") {
  random::Generator inside(3), outside(3);
  const auto noisy = jit([&](const Array& x) {
    const Array gamma = inside.gamma(2.0, x), poisson = inside.poisson(x);
    return x * gamma + poisson - inside.binomial(10, 0.5);
  });
  const Array x = array({0.5, 4.0, 40.0});
  for (int call = 0; call < 3; ++call) {
    const Array gamma = outside.gamma(2.0, x), poisson = outside.poisson(x);
    CHECK(allclose(noisy(x), x * gamma + poisson - outside.binomial(10, 0.5)));
  }
  CHECK(noisy.kernel_count(x) == 1);
  CHECK(inside.poisson(zeros<float>({3, 1}), {3, 4}).shape() == Shape{3, 4});
  CHECK(inside.hypergeometric(ones<int>({3, 1}), 5, ones<int>({4})).shape() == Shape{3, 4});
  // One key for all of a draw, and the counter says which element.
  const Array counters = arange<std::uint64_t>(100);
  const auto first = philox_poisson(7, counters, 40.0).to_vector<double>();
  const auto again = philox_poisson(7, counters(slice(50, 60)), 40.0).to_vector<double>();
  CHECK(std::vector(first.begin() + 50, first.begin() + 60) == again);
  for (const Array& other :
       {philox_binomial(7, counters, 100, 0.4), philox_zipf(7, counters, 2.0),
        philox_hypergeometric(7, counters, 50, 60, 70), philox_vonmises(7, counters, 1.0)}) {
    CHECK(other.dtype() == DType::f64);
    CHECK(all(isfinite(other)).item<bool>());
  }
}

}  // namespace
}  // namespace heddle::test
