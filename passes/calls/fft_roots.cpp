#include "passes/calls/fft_roots.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace heddle::passes {

Complex root_of_unity(std::int64_t k, std::int64_t n, bool inverse) {
  const long double turns = static_cast<long double>(k % n) / static_cast<long double>(n);
  const long double angle = 2 * std::numbers::pi_v<long double> * turns;
  return {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
}

void append(Numbers& numbers, Complex value) {
  numbers.push_back(static_cast<double>(value.real()));
  numbers.push_back(static_cast<double>(value.imag()));
}

void append(Numbers& numbers, const std::vector<Complex>& values, bool pairs) {
  if (pairs) {
    for (const Complex& value : values) append(numbers, value);
    return;
  }
  for (const Complex& value : values) numbers.push_back(static_cast<double>(value.real()));
  for (const Complex& value : values) numbers.push_back(static_cast<double>(value.imag()));
}

void append(Numbers& numbers, const Numbers& more) {
  numbers.insert(numbers.end(), more.begin(), more.end());
}

Numbers powers(std::int64_t order, std::int64_t count, std::int64_t step, bool inverse) {
  Numbers numbers;
  for (std::int64_t k = 0; k < count; ++k) append(numbers, root_of_unity(k * step, order, inverse));
  return numbers;
}

Numbers half_roots(std::int64_t n, int first_radix, bool inverse) {
  Numbers numbers = powers(2 * n, n / first_radix, 1, inverse);
  append(numbers, powers(2 * n, first_radix, n / first_radix, inverse));
  return numbers;
}

Numbers mirror_roots(std::int64_t n, int last_radix, int parts) {
  Numbers numbers = powers(2 * last_radix, last_radix, 1, false);
  const std::int64_t pairs = (n / last_radix + 1) / 2;
  for (int part = 0; part < parts; ++part) {
    for (std::int64_t k = 0; k <= pairs; ++k)
      append(numbers, root_of_unity(k * parts + part, 2 * n * parts, false));
  }
  return numbers;
}

std::vector<Complex> transformed(std::vector<Complex> values) {
  const std::size_t n = values.size();
  if (n == 1) return values;
  std::size_t factor = 2;
  while (n % factor != 0) ++factor;
  const std::size_t length = n / factor;
  std::vector<std::vector<Complex>> parts;
  for (std::size_t r = 0; r < factor; ++r) {
    std::vector<Complex> part;
    for (std::size_t j = 0; j < length; ++j) part.push_back(values[j * factor + r]);
    parts.push_back(transformed(std::move(part)));
  }
  std::vector<Complex> result;
  for (std::size_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (std::size_t r = 0; r < factor; ++r) {
      sum += parts[r][k % length] *
             root_of_unity(static_cast<std::int64_t>(r * k), static_cast<std::int64_t>(n), false);
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace heddle::passes
