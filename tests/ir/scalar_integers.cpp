#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace scalar = heddle_scalar;

namespace {

constexpr int least = std::numeric_limits<int>::min();
constexpr long long least_long = std::numeric_limits<long long>::min();
using Byte = signed char;
using UByte = unsigned char;

template <class T>
constexpr T as(int x) {
  return static_cast<T>(x);
}

}  // namespace

TEST_CASE("integers wrap") {
  CHECK(scalar::add(std::numeric_limits<int>::max(), 1) == least);
  CHECK(scalar::add(as<Byte>(127), as<Byte>(1)) == -128);
  CHECK(scalar::add(as<UByte>(255), as<UByte>(1)) == 0);
  CHECK(scalar::subtract(0u, 1u) == 0xffffffffu);
  CHECK(scalar::multiply(as<unsigned short>(65535), as<unsigned short>(65535)) == 1);
  CHECK(scalar::multiply(least_long, -1ll) == least_long);
  CHECK(scalar::negative(least) == least);
  CHECK(scalar::negative(as<UByte>(1)) == 255);
  CHECK(scalar::absolute(least) == least);
  CHECK(scalar::absolute(as<Byte>(-128)) == -128);
  CHECK(scalar::square(as<Byte>(16)) == 0);
  CHECK(scalar::sign(-7) == -1);
  CHECK(scalar::sign(7u) == 1u);
}

TEST_CASE("booleans add as or and multiply as and") {
  CHECK(scalar::add(true, true));
  CHECK_FALSE(scalar::multiply(true, false));
  CHECK(scalar::maximum(true, false));
  CHECK_FALSE(scalar::minimum(true, false));
  CHECK_FALSE(scalar::invert(true));
  CHECK(scalar::absolute(true));
}

TEST_CASE("all quotients of bytes are rounded down") {
  int wrong = 0;
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      const double exact = b == 0 ? 0 : std::floor(static_cast<double>(a) / b);
      const int quotient = exact == 128 ? -128 : static_cast<int>(exact);
      wrong += scalar::floor_divide(as<Byte>(a), as<Byte>(b)) != quotient;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the number of sorted elements before a value, for any number of elements") {
  std::vector<int> sorted;
  for (int count = 0; count < 70; ++count) {
    CAPTURE(count);
    for (int value = -1; value <= count; ++value) {
      const auto load = [&](int i) { return sorted[static_cast<std::size_t>(i)]; };
      const auto first = std::ranges::lower_bound(sorted, value) - sorted.begin();
      const auto last = std::ranges::upper_bound(sorted, value) - sorted.begin();
      CHECK(scalar::search_sorted<false>(count, value, load) == first);
      CHECK(scalar::search_sorted<true>(count, value, load) == last);
    }
    sorted.push_back(count / 3 * 2);
  }
}

TEST_CASE("integer division is floored, and by zero gives zero") {
  struct Row {
    int a, b, quotient, modulus, c_modulus;
  };
  for (const Row& row :
       {Row{7, 2, 3, 1, 1}, Row{-7, 2, -4, 1, -1}, Row{7, -2, -4, -1, 1}, Row{-7, -2, 3, -1, -1},
        Row{6, -3, -2, 0, 0}, Row{0, 5, 0, 0, 0}, Row{5, 0, 0, 0, 0}, Row{least, 0, 0, 0, 0},
        Row{least, -1, least, 0, 0}, Row{least, 2, least / 2, 0, 0}}) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    CHECK(scalar::floor_divide(row.a, row.b) == row.quotient);
    CHECK(scalar::remainder(row.a, row.b) == row.modulus);
    CHECK(scalar::fmod(row.a, row.b) == row.c_modulus);
    CHECK(scalar::floor_divide<long long>(row.a, row.b) ==
          (row.a == least && row.b == -1 ? -static_cast<long long>(least) : row.quotient));
  }
  CHECK(scalar::floor_divide(as<Byte>(-128), as<Byte>(-1)) == -128);
  CHECK(scalar::remainder(as<Byte>(-128), as<Byte>(127)) == 126);
  CHECK(scalar::floor_divide(7u, 0u) == 0u);
  CHECK(scalar::remainder(7u, 0u) == 0u);
  CHECK(scalar::floor_divide(0xffffffffu, 2u) == 0x7fffffffu);
}

TEST_CASE("integer powers wrap, and negative exponents cut to an integer") {
  CHECK(scalar::power(2, 10) == 1024);
  CHECK(scalar::power(2, 31) == least);
  CHECK(scalar::power(2, 32) == 0);
  CHECK(scalar::power(0, 0) == 1);
  CHECK(scalar::power(as<Byte>(3), as<Byte>(7)) == -117);
  CHECK(scalar::power(3ull, 40ull) == 12157665459056928801ull);
  CHECK(scalar::power(-3, 3) == -27);
  CHECK(scalar::power(1, -5) == 1);
  CHECK(scalar::power(-1, -5) == -1);
  CHECK(scalar::power(-1, -4) == 1);
  CHECK(scalar::power(2, -1) == 0);
}

TEST_CASE("shifts by the width or more, or by a negative count, shift everything out") {
  CHECK(scalar::left_shift(1, 4) == 16);
  CHECK(scalar::left_shift(1, 31) == least);
  CHECK(scalar::left_shift(1, 32) == 0);
  CHECK(scalar::left_shift(1, -1) == 0);
  CHECK(scalar::left_shift(as<Byte>(1), as<Byte>(7)) == -128);
  CHECK(scalar::left_shift(as<Byte>(1), as<Byte>(8)) == 0);
  CHECK(scalar::left_shift(1ull, 64ull) == 0);
  CHECK(scalar::left_shift(1ll, 63ll) == least_long);
  CHECK(scalar::right_shift(-8, 1) == -4);
  CHECK(scalar::right_shift(-8, 32) == -1);
  CHECK(scalar::right_shift(-8, -1) == -1);
  CHECK(scalar::right_shift(8, 40) == 0);
  CHECK(scalar::right_shift(as<UByte>(128), as<UByte>(7)) == 1);
  CHECK(scalar::right_shift(as<UByte>(128), as<UByte>(8)) == 0);
  CHECK(scalar::right_shift(as<Byte>(-128), as<Byte>(8)) == -1);
}

TEST_CASE("gcd, lcm, reciprocal and bit counts") {
  CHECK(scalar::gcd(12, -18) == 6);
  CHECK(scalar::gcd(0, 0) == 0);
  CHECK(scalar::gcd(least, 0) == least);
  CHECK(scalar::lcm(-4, 6) == 12);
  CHECK(scalar::lcm(0, 5) == 0);
  CHECK(scalar::gcd(as<Byte>(-128), as<Byte>(96)) == 32);
  CHECK(scalar::reciprocal(1) == 1);
  CHECK(scalar::reciprocal(-1) == -1);
  CHECK(scalar::reciprocal(2) == 0);
  CHECK(scalar::reciprocal(0) == least);
  CHECK(scalar::reciprocal(0ll) == least_long);
  CHECK(scalar::reciprocal(as<Byte>(0)) == 0);
  CHECK(scalar::reciprocal(0u) == 0u);
  CHECK(scalar::bitwise_count(255u) == 8);
  CHECK(scalar::bitwise_count(-1) == 1);
  CHECK(scalar::bitwise_count(as<Byte>(-128)) == 1);
  CHECK(scalar::bitwise_count(~0ull) == 64);
}

TEST_CASE("casts among integers and bool") {
  CHECK(scalar::cast<Byte>(200) == -56);
  CHECK(scalar::cast<unsigned int>(-1) == 0xffffffffu);
  CHECK(scalar::cast<long long>(0xffffffffu) == 4294967295ll);
  CHECK(scalar::cast<bool>(256));
  CHECK(scalar::cast<int>(true) == 1);
  CHECK(scalar::cast<float>(true) == 1.0f);
  CHECK(scalar::cast<float>(16777217) == 16777216.0f);
  CHECK(scalar::cast<double>(~0ull) == 18446744073709551616.0);
}

TEST_CASE("floats that do not fit an integer become what x86-64 makes of them") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(scalar::cast<int>(-1.9) == -1);
  CHECK(scalar::cast<int>(2147483647.9) == 2147483647);
  CHECK(scalar::cast<int>(-2147483648.9) == least);
  CHECK(scalar::cast<int>(2147483648.0) == least);
  CHECK(scalar::cast<int>(2147483648.0f) == least);
  CHECK(scalar::cast<int>(-2147483648.0f) == least);
  CHECK(scalar::cast<int>(nan) == least);
  CHECK(scalar::cast<long long>(infinity) == least_long);
  CHECK(scalar::cast<long long>(-9223372036854775808.0) == least_long);
  CHECK(scalar::cast<unsigned int>(4294967295.5) == 4294967295u);
  CHECK(scalar::cast<unsigned int>(-1.0f) == 4294967295u);
  CHECK(scalar::cast<unsigned int>(nan) == 0x80000000u);
  CHECK(scalar::cast<unsigned int>(1e20) == 0u);
  CHECK(scalar::cast<unsigned long long>(9223372036854775808.0) == 9223372036854775808ull);
  CHECK(scalar::cast<unsigned long long>(18446744073709549568.0) == 18446744073709549568ull);
  CHECK(scalar::cast<unsigned long long>(-1.5) == ~0ull);
  CHECK(scalar::cast<unsigned long long>(1e20) == 0ull);
  CHECK(scalar::cast<Byte>(300.7) == 44);
  CHECK(scalar::cast<UByte>(-1.0) == 255);
  CHECK(scalar::cast<short>(3e9) == 0);
  CHECK(scalar::cast<bool>(nan));
  CHECK(scalar::cast<bool>(0.1));
  CHECK_FALSE(scalar::cast<bool>(-0.0));
}
