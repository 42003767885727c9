// Quotients and roots without a branch each, beside the processor's, bit for bit.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace {

using Bits = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

struct Counts {
  int rare = 0, wrong = 0;

  void add(bool is_rare, float got, float want) {
    rare += is_rare ? 1 : 0;
    if (!is_rare && std::bit_cast<std::uint32_t>(got) != std::bit_cast<std::uint32_t>(want))
      ++wrong;
  }
};

Counts count(std::uint32_t seed, std::uint32_t least_exponent, std::uint32_t exponents) {
  Bits random(seed);
  const auto number = [&] {
    const std::uint32_t bits = random();
    return std::bit_cast<float>((bits & 0x807fffffu) | (least_exponent + random() % exponents)
                                                           << 23);
  };
  Counts counts;
  for (int i = 0; i < 300000; ++i) {
    const float x = number(), y = number();
    bool rare = false;
    const float quotient = heddle_scalar::quick::divide(x, y, rare);
    counts.add(rare, quotient, x / y);
    rare = false;
    const float inverse = heddle_scalar::quick::reciprocal(x, rare);
    counts.add(rare, inverse, 1 / x);
    rare = false;
    const float root = heddle_scalar::quick::sqrt(std::fabs(y), rare);
    counts.add(rare, root, std::sqrt(std::fabs(y)));
  }
  return counts;
}

bool is_rare(float x, float y) {
  bool rare = false;
  heddle_scalar::quick::divide(x, y, rare);
  return rare;
}

}  // namespace

TEST_CASE("usual quotients, inverses and roots are correctly rounded, and none is rare") {
  const Counts usual = count(1, 127 - 60, 120);
  CHECK(usual.rare == 0);
  CHECK(usual.wrong == 0);
}

TEST_CASE("of any numbers those that are not rare are correctly rounded") {
  const Counts any = count(2, 0, 256);
  CHECK(any.rare > 100000);
  CHECK(any.wrong == 0);
  CHECK(count(3, 127 - 62, 4).wrong == 0);
  CHECK(count(4, 127 + 58, 4).wrong == 0);
}

TEST_CASE("zeros, infinities, NaN and roots of negative numbers are rare") {
  for (const float unusual : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f}) {
    CHECK(is_rare(unusual, 1));
    CHECK(is_rare(1, unusual));
  }
  for (const float unusual : {0.0f, -0.0f, INFINITY, NAN, -NAN, -1.0f, 1e-45f}) {
    bool rare = false;
    heddle_scalar::quick::sqrt(unusual, rare);
    CHECK(rare);
  }
}
