// The numbers that sorts work on, against the order that they stand for.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace {

using heddle_scalar::canonical_key;
using heddle_scalar::key_of;
using heddle_scalar::precedes;
using heddle_scalar::value_of;

/// Whether keys are as their values are in order, and lead back to these bit by bit.
template <class T>
void check_keys(const std::vector<T>& values) {
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T a = values[i], b = values[(i * 7 + 3) % values.size()];
    const auto x = canonical_key<T>(key_of(a)), y = canonical_key<T>(key_of(b));
    const T back = value_of<T>(key_of(a));
    using Bits = heddle_scalar::Key<T>;
    wrong += std::bit_cast<Bits>(back) != std::bit_cast<Bits>(a);
    wrong += (x < y) != precedes(a, b);
    wrong += (x == y) != (!precedes(a, b) && !precedes(b, a));
    // What sorts give of a key alone is equal to what it was made of.
    const T made = value_of<T>(x);
    wrong += precedes(made, a) || precedes(a, made);
  }
  CHECK(wrong == 0);
}

template <class T>
std::vector<T> all_of_16_bits() {
  std::vector<T> values;
  for (int bits = 0; bits < 1 << 16; ++bits)
    values.push_back(std::bit_cast<T>(static_cast<std::uint16_t>(bits)));
  return values;
}

template <class T, class Bits>
std::vector<T> around(const std::vector<Bits>& places) {
  std::vector<T> values;
  for (const Bits place : places) {
    for (int step = -300; step <= 300; ++step)
      values.push_back(std::bit_cast<T>(static_cast<Bits>(place + static_cast<Bits>(step))));
  }
  return values;
}

TEST_CASE("keys of 16 bits, all of them") {
  check_keys(all_of_16_bits<heddle_scalar::half>());
  check_keys(all_of_16_bits<heddle_scalar::bfloat16>());
  check_keys(all_of_16_bits<short>());
  check_keys(all_of_16_bits<unsigned short>());
}

TEST_CASE("keys around zeros, infinities and the ends") {
  check_keys(around<float, std::uint32_t>({0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fffffffu,
                                           0x3f800000u, 0xbf800000u, 0x00800000u}));
  check_keys(around<double, std::uint64_t>({0, 0x8000000000000000u, 0x7ff0000000000000u,
                                            0xfff0000000000000u, 0x7fffffffffffffffu,
                                            0x3ff0000000000000u, 0xbff0000000000000u}));
  check_keys(around<int, std::uint32_t>({0, 0x80000000u}));
  check_keys(around<unsigned long long, std::uint64_t>({0, 0x8000000000000000u}));
}

TEST_CASE("NaN has the greatest key, whatever is padding") {
  CHECK(canonical_key<float>(key_of(std::numeric_limits<float>::quiet_NaN())) == 0xffffffffu);
  CHECK(canonical_key<float>(key_of(-std::numeric_limits<float>::quiet_NaN())) == 0xffffffffu);
  CHECK(canonical_key<float>(key_of(std::numeric_limits<float>::infinity())) < 0xffffffffu);
}

}  // namespace
