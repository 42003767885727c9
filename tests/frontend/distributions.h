#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/heddle.h"

namespace heddle::test {

inline constexpr std::int64_t many = 200'000;

/// Checks mean and variance to within six standard errors; `kurtosis` is the distribution's.
inline void check_moments(const Array& sample, double mean, double variance, double kurtosis = 3) {
  const std::vector<double> values = sample.to_vector<double>();
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const auto count = static_cast<double>(values.size());
  const double found = sum / count;
  for (const double value : values) squares += (value - found) * (value - found);
  CHECK(std::abs(found - mean) < 6 * std::sqrt(variance / count));
  CHECK(std::abs(squares / count - variance) < 6 * variance * std::sqrt(kurtosis / count));
}

/// Kolmogorov's distance to a distribution function, below what one sample in 10^9 exceeds.
inline void check_distribution(const Array& sample, const std::function<double(double)>& below) {
  std::vector<double> values = sample.to_vector<double>();
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = below(values[i]), rank = static_cast<double>(i);
    distance = std::max({distance, std::abs(at - rank / count), std::abs(at - (rank + 1) / count)});
  }
  CHECK(distance * std::sqrt(count) < 3.3);
}

/// A sample, and the function that it is checked against.
struct Drawn {
  std::string name;
  Array sample;
  std::function<double(double)> expected;
};

/// In one program, which has one compilation.
inline void check_all(const std::vector<Drawn>& cases,
                      void (*check)(const Array&, const std::function<double(double)>&)) {
  std::vector<Array> samples;
  for (const Drawn& one : cases) samples.push_back(one.sample);
  eval(samples);
  for (const Drawn& one : cases) {
    CAPTURE(one.name);
    check(one.sample, one.expected);
  }
}

}  // namespace heddle::test
