#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace {

using heddle_scalar::bfloat16;
using heddle_scalar::half;
namespace scalar = heddle_scalar;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Format {
  int mantissa_bits, exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Format half_format{10, 5};
constexpr Format bfloat16_format{7, 8};

template <class T>
constexpr Format format_of = bfloat16_format;
template <>
constexpr Format format_of<half> = half_format;

/// The value of 16 bits, by the definition of the format. NaN for NaN.
double decode(std::uint16_t bits, const Format& format) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits & 0x7fff) >> format.mantissa_bits;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const int unit = std::max(exponent, 1) - format.bias() - format.mantissa_bits;
  const int leading = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return sign * std::ldexp(leading + mantissa, unit);
}

/// The nearest finite or infinite number of the format, ties to even, found among neighbours.
template <class T>
std::uint16_t nearest(double x) {
  const Format format = format_of<T>;
  const auto infinite =
      static_cast<std::uint16_t>(((1 << format.exponent_bits) - 1) << format.mantissa_bits);
  std::uint16_t low = 0, high = infinite;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (decode(middle, format) <= std::fabs(x) ? low : high) = middle;
  }
  // Above the greatest number stands the one that would follow.
  const double below = decode(low, format);
  const double above = high == infinite ? std::ldexp(1.0, format.bias() + 1) : decode(high, format);
  const double middle = below + (above - below) / 2;
  const bool up = std::fabs(x) > middle || (std::fabs(x) == middle && (low & 1) != 0);
  return static_cast<std::uint16_t>((up ? high : low) | (std::signbit(x) ? 0x8000 : 0));
}

TEST_CASE_TEMPLATE("all 65536 patterns convert exactly and back", T, half, bfloat16) {
  int wrong = 0;
  for (unsigned int i = 0; i < 65536; ++i) {
    const T x{static_cast<unsigned short>(i)};
    const double value = decode(x.bits, format_of<T>);
    const float widened = scalar::widen(x);
    const bool nan = std::isnan(value);
    const bool equal = nan ? std::isnan(widened) : widened == value;
    const bool sign = std::signbit(widened) == ((i & 0x8000) != 0);
    const bool from_float = T::from(widened).bits == i;
    const bool from_double = nan || T::from(value).bits == i;
    wrong += !(equal && sign && from_float && from_double);
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("conversion rounds to nearest even", T, half, bfloat16) {
  const Format format = format_of<T>;
  int wrong = 0;
  const int infinite = ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
  for (int i = 0; i + 1 < infinite; ++i) {
    const double below = decode(static_cast<std::uint16_t>(i), format);
    const double above = decode(static_cast<std::uint16_t>(i + 1), format);
    const auto tie = static_cast<float>(below + (above - below) / 2);
    for (float x : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, infinity)}) {
      wrong += T::from(x).bits != nearest<T>(x);
      wrong += T::from(-x).bits != nearest<T>(-x);
    }
  }
  CHECK(wrong == 0);
  std::uint32_t state = 7;
  for (int i = 0; i < 100000; ++i) {
    state = state * 1664525u + 1013904223u;
    const auto x = std::bit_cast<float>(state);
    if (!std::isnan(x)) wrong += T::from(x).bits != nearest<T>(x);
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(scalar::widen(T::from(std::bit_cast<float>(0x7f800001u)))));
  CHECK(scalar::widen(T::from(std::numeric_limits<float>::max())) == infinity);
}

TEST_CASE("half from double rounds once") {
  // Just above a tie of half, nearer to it than a float can say.
  const double above_tie = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  CHECK(half::from(above_tie).bits == 0x3c01);
  CHECK(half::from(-above_tie).bits == 0xbc01);
  CHECK(half::from(1 + std::ldexp(1.0, -11)).bits == 0x3c00);
  CHECK(half::from(1 + 3 * std::ldexp(1.0, -11) - std::ldexp(1.0, -40)).bits == 0x3c01);
  CHECK(half::from(65519.999).bits == 0x7bff);
  CHECK(half::from(65520.0).bits == 0x7c00);
  CHECK(half::from(1e300).bits == 0x7c00);
  CHECK(half::from(1e-300).bits == 0);
  CHECK(half::from(-1e-300).bits == 0x8000);
  CHECK(half::from(std::ldexp(1.0, -25)).bits == 0);
  CHECK(half::from(std::ldexp(1.0, -25) * (1 + std::ldexp(1.0, -50))).bits == 1);
}

TEST_CASE_TEMPLATE("arithmetic rounds the exact result once", T, half, bfloat16) {
  std::uint32_t state = 99;
  int wrong = 0;
  for (int i = 0; i < 50000; ++i) {
    state = state * 1664525u + 1013904223u;
    const T a{static_cast<unsigned short>(state >> 16)};
    state = state * 1664525u + 1013904223u;
    const T b{static_cast<unsigned short>(state >> 16)};
    const double x = decode(a.bits, format_of<T>), y = decode(b.bits, format_of<T>);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    wrong += scalar::multiply(a, b).bits != nearest<T>(x * y);
    // A sum of doubles may itself round, except where the exponents are near.
    if (std::fabs(x) < std::ldexp(std::fabs(y), 20) &&
        std::fabs(y) < std::ldexp(std::fabs(x), 20)) {
      wrong += scalar::add(a, b).bits != nearest<T>(x + y) && x + y != 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("neighbours and gaps are those of the format", T, half, bfloat16) {
  const T one = T::from(1.0f), two = T::from(2.0f), zero = T::from(0.0f);
  CHECK(scalar::nextafter(one, two).bits == one.bits + 1);
  CHECK(scalar::nextafter(one, zero).bits == one.bits - 1);
  CHECK(scalar::nextafter(zero, two).bits == 1);
  CHECK(scalar::nextafter(zero, T::from(-2.0f)).bits == 0x8001);
  CHECK(std::isnan(scalar::widen(scalar::nextafter(one, T::from(std::nanf(""))))));
  CHECK(scalar::widen(scalar::spacing(one)) == std::ldexp(1.0f, -format_of<T>.mantissa_bits));
  CHECK(scalar::spacing(zero).bits == 1);
  CHECK(scalar::widen(scalar::ldexp(one, -format_of<T>.bias() - 3)) ==
        std::ldexp(1.0f, -format_of<T>.bias() - 3));
  CHECK(scalar::widen(scalar::ldexp(one, 1000)) == infinity);
  CHECK(scalar::frexp_exponent(T{1}) == 2 - format_of<T>.bias() - format_of<T>.mantissa_bits);
  CHECK(scalar::widen(scalar::frexp_mantissa(T{1})) == 0.5f);
}

TEST_CASE_TEMPLATE("casts go by way of the value", T, half, bfloat16) {
  CHECK(scalar::cast<int>(T::from(-2.5f)) == -2);
  CHECK(scalar::cast<T>(3).bits == T::from(3.0f).bits);
  CHECK(scalar::cast<T>(true).bits == T::from(1.0f).bits);
  CHECK(scalar::cast<bool>(T{0x8000}) == false);
  CHECK(scalar::cast<bool>(T{1}));
  CHECK(scalar::cast<double>(T::from(0.5f)) == 0.5);
  CHECK(scalar::widen(scalar::cast<bfloat16>(scalar::cast<half>(1.5f))) == 1.5f);
}

}  // namespace

TEST_CASE("a half beside its number is the half, moved or computed, one or many at once") {
  const auto same = [](const scalar::wide_half& a, half b) {
    return a.bits == b.bits &&
           std::bit_cast<std::uint32_t>(widen(a)) == std::bit_cast<std::uint32_t>(scalar::widen(b));
  };
  std::vector<std::uint16_t> bits(65536 + 7);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  int differ = 0;
  for (const std::uint16_t one : bits) {
    const scalar::wide_half wide(one);
    differ += same(wide, half{one}) ? 0 : 1;
    differ += same(negated(wide), scalar::negative(half{one})) ? 0 : 1;
    differ += same(magnitude_of(wide), scalar::absolute(half{one})) ? 0 : 1;
    differ += same(select(true, wide, negated(wide)), half{one}) ? 0 : 1;
  }
  CHECK(differ == 0);

  std::uint32_t state = 1;
  for (int i = 0; i < 2000000; ++i) {
    state = state * 1664525 + 1013904223;
    const auto x = std::bit_cast<float>(state);
    if (x != x) continue;  // NaN need not keep its bits
    differ += same(scalar::wide_half::from(x), half::from(x)) ? 0 : 1;
  }
  CHECK(differ == 0);

  std::vector<float> floats(bits.size());
  std::vector<std::uint16_t> back(bits.size());
  scalar::widen_all(floats.data(), bits.data(), static_cast<long long>(bits.size()));
  scalar::narrow_all(back.data(), floats.data(), static_cast<long long>(bits.size()));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const float number = scalar::widen(half{bits[i]});
    const bool nan = number != number;
    differ += nan ? (floats[i] != floats[i] ? 0 : 1) : (floats[i] == number ? 0 : 1);
    // A signalling NaN comes back quiet.
    differ += back[i] == bits[i] || (nan && back[i] == (bits[i] | 0x200)) ? 0 : 1;
  }
  CHECK(differ == 0);
}
