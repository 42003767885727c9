#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace heddle::test {
namespace {

using heddle_scalar::Divisor;

using Bits = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

struct Counts {
  int quotients = 0, rare = 0, wrong = 0;
};

/// Beside the division of the processor, bit for bit.
void divide(Counts& counts, float x, float y) {
  const Divisor<float> divisor(y);
  if (!divisor.ordinary()) return;
  bool rare = false;
  const float quotient = heddle_scalar::divide(x, divisor, rare);
  ++counts.quotients;
  counts.rare += rare ? 1 : 0;
  if (!rare && std::bit_cast<std::uint32_t>(quotient) != std::bit_cast<std::uint32_t>(x / y))
    ++counts.wrong;
}

float number_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

float number_of(std::uint32_t exponent, std::uint32_t fraction) {
  return number_of(exponent << 23 | (fraction & 0x7fffff));
}

}  // namespace

TEST_CASE("quotients by an inverse are those of a division, or say that they may not be") {
  Bits random(1);
  Counts any;
  for (int i = 0; i < 1000000; ++i) {
    const float x = number_of(random());
    divide(any, x, number_of(random()));
  }
  CHECK(any.quotients > 400000);
  CHECK(any.wrong == 0);
}

TEST_CASE("of what a softmax divides, subnormal quotients included, none is rare but ties") {
  Bits random(2);
  Counts usual, ties;
  for (int i = 0; i < 300000; ++i) {
    const float sum = number_of(127 + random() % 14, random());
    const float x = number_of(random() % 60, random());
    for (const float sign : {1.0f, -1.0f}) {
      divide(usual, sign * x, sum);
      divide(usual, x, sign * sum);
      divide(usual, sign * 0.0f, sign * sum);
      divide(usual, 0.0f, sign * sum);
    }
    divide(ties, x, static_cast<float>(1 + random() % 64));
  }
  CHECK(usual.wrong == 0);
  CHECK(usual.rare * 100000 < usual.quotients);
  CHECK(ties.wrong == 0);
  CHECK(ties.rare > 0);
}

TEST_CASE("quotients of what overflows, and by what is not ordinary, are rare") {
  const float infinity = HUGE_VALF;
  for (const float x : {infinity, -infinity, std::nanf(""), 3e38f}) {
    bool rare = false;
    heddle_scalar::divide(x, Divisor<float>(0.5f), rare);
    CHECK(rare);
  }
  for (const float y : {0.0f, -0.0f, infinity, std::nanf(""), 1e-30f, 1e30f})
    CHECK_FALSE(Divisor<float>(y).ordinary());
}

}  // namespace heddle::test
