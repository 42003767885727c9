#include <cmath>
#include <complex>
#include <limits>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace scalar = heddle_scalar;

namespace {

template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
using Complex = scalar::complex<T>;

template <class T>
bool same(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}
template <class T>
bool same(Complex<T> a, Complex<T> b) {
  return same(a.re, b.re) && same(a.im, b.im);
}

}  // namespace

TEST_CASE_TEMPLATE("complex numbers are ordered by real part, then imaginary", T, float, double) {
  const Complex<T> low(1, 9), high(2, -9), higher(2, 3), nan(5, not_a_number<T>);
  CHECK(scalar::less(low, high));
  CHECK(scalar::less(high, higher));
  CHECK(scalar::less_equal(high, high));
  CHECK_FALSE(scalar::less(high, high));
  CHECK(scalar::greater(higher, low));
  for (const Complex<T> z : {low, high, nan}) {
    CHECK_FALSE(scalar::less(z, nan));
    CHECK_FALSE(scalar::greater_equal(nan, z));
    CHECK(same(scalar::maximum(nan, z), nan));
    CHECK(same(scalar::minimum(z, nan), nan));
    CHECK(same(scalar::fmax(nan, z), z));
    CHECK(same(scalar::fmin(z, nan), z));
  }
  CHECK(scalar::equal(Complex<T>(0, T(-0.0)), Complex<T>(T(-0.0), 0)));
  CHECK(scalar::not_equal(nan, nan));
}

TEST_CASE_TEMPLATE("quotients neither over- nor underflow on the way", T, float, double) {
  const T large = std::numeric_limits<T>::max() / 64;
  CHECK(same(scalar::divide(Complex<T>(large, large), Complex<T>(large, large)), Complex<T>(1, 0)));
  const T small = std::numeric_limits<T>::min() * 64;
  CHECK(same(scalar::divide(Complex<T>(small, 0), Complex<T>(0, small)), Complex<T>(0, -1)));
  CHECK(same(scalar::divide(Complex<T>(1, -1), Complex<T>(0, T(-0.0))),
             Complex<T>(infinity<T>, -infinity<T>)));
  CHECK(same(scalar::divide(Complex<T>(0, 1), Complex<T>(0, 0)),
             Complex<T>(not_a_number<T>, infinity<T>)));
  CHECK(std::isnan(scalar::reciprocal(Complex<T>(0, 0)).re));
  CHECK(same(scalar::reciprocal(Complex<T>(0, 2)), Complex<T>(0, T(-0.5))));
}

TEST_CASE_TEMPLATE("signs are on the unit circle, or on an axis", T, float, double) {
  CHECK(same(scalar::sign(Complex<T>(3, -4)), Complex<T>(T(0.6), T(-0.8))));
  CHECK(same(scalar::sign(Complex<T>(T(-0.0), T(-0.0))), Complex<T>(0, 0)));
  CHECK(same(scalar::sign(Complex<T>(-infinity<T>, 7)), Complex<T>(-1, 0)));
  CHECK(same(scalar::sign(Complex<T>(not_a_number<T>, infinity<T>)), Complex<T>(0, 1)));
  CHECK(std::isnan(scalar::sign(Complex<T>(infinity<T>, infinity<T>)).re));
}

TEST_CASE_TEMPLATE("casts keep the real part, and truth is of both", T, float, double) {
  CHECK(scalar::cast<int>(Complex<T>(T(-2.75), 9)) == -2);
  CHECK(scalar::cast<bool>(Complex<T>(0, T(0.5))));
  CHECK_FALSE(scalar::cast<bool>(Complex<T>(T(-0.0), 0)));
  CHECK(scalar::cast<bool>(Complex<T>(0, not_a_number<T>)));
  CHECK(same(scalar::cast<Complex<T>>(short{-3}), Complex<T>(-3, 0)));
  CHECK(
      same(scalar::cast<Complex<float>>(Complex<T>(T(0.1), T(-0.0))), Complex<float>(0.1f, -0.0f)));
}

TEST_CASE("the layout is std::complex's") {
  static_assert(sizeof(scalar::complex64) == sizeof(std::complex<float>));
  static_assert(sizeof(scalar::complex128) == sizeof(std::complex<double>));
  static_assert(alignof(scalar::complex128) == alignof(std::complex<double>));
  static_assert(std::is_trivially_copyable_v<scalar::complex64>);
}
