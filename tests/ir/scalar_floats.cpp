#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include "ir/types/scalar.h"

namespace scalar = heddle_scalar;

namespace {

template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// Equal, with NaN equal to NaN and the zeros told apart.
template <class T>
bool same(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEST_CASE_TEMPLATE("maximum and minimum pass NaN on and order the zeros", T, float, double) {
  const T values[] = {not_a_number<T>, -infinity<T>, T(-1), T(-0.0), T(0), T(1), infinity<T>};
  for (T a : values) {
    for (T b : values) {
      CAPTURE(a);
      CAPTURE(b);
      const bool ordered = a < b || (a == b && std::signbit(a));
      const T larger = ordered ? b : a;
      const T smaller = ordered ? a : b;
      const bool either = std::isnan(a) || std::isnan(b);
      CHECK(same(scalar::maximum(a, b), either ? not_a_number<T> : larger));
      CHECK(same(scalar::minimum(a, b), either ? not_a_number<T> : smaller));
      CHECK(same(scalar::fmax(a, b), std::isnan(a) ? b : std::isnan(b) ? a : larger));
      CHECK(same(scalar::fmin(a, b), std::isnan(a) ? b : std::isnan(b) ? a : smaller));
    }
  }
}

TEST_CASE_TEMPLATE("division and remainder follow NumPy's divmod", T, float, double) {
  struct Row {
    T a, b, quotient, remainder;
  };
  const T inf = infinity<T>;
  const Row rows[] = {
      {7, 2, 3, 1},
      {-7, 2, -4, 1},
      {7, -2, -4, -1},
      {-7, -2, 3, -1},
      {T(5.5), 2, 2, T(1.5)},
      {0, 5, 0, 0},
      {T(-0.0), 5, T(-0.0), 0},
      {0, -5, T(-0.0), T(-0.0)},
      {6, -3, -2, T(-0.0)},
      {1, inf, 0, 1},
      {-1, inf, -1, inf},
      {1, -inf, -1, -inf},
      {inf, 2, not_a_number<T>, not_a_number<T>},
      {1, 0, inf, not_a_number<T>},
      {-1, 0, -inf, not_a_number<T>},
      {0, 0, not_a_number<T>, not_a_number<T>},
      {not_a_number<T>, 1, not_a_number<T>, not_a_number<T>},
      {1, not_a_number<T>, not_a_number<T>, not_a_number<T>},
  };
  for (const Row& row : rows) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    CHECK(same(scalar::floor_divide(row.a, row.b), row.quotient));
    CHECK(same(scalar::remainder(row.a, row.b), row.remainder));
  }
  CHECK(same(scalar::fmod(T(-7), T(2)), T(-1)));
  CHECK(same(scalar::fmod(T(-6), T(2)), T(-0.0)));
}

TEST_CASE_TEMPLATE("rounding is to even and keeps the sign of zero", T, float, double) {
  CHECK(same(scalar::rint(T(0.5)), T(0)));
  CHECK(same(scalar::rint(T(1.5)), T(2)));
  CHECK(same(scalar::rint(T(2.5)), T(2)));
  CHECK(same(scalar::rint(T(-0.3)), T(-0.0)));
  CHECK(same(scalar::floor(T(-0.5)), T(-1)));
  CHECK(same(scalar::ceil(T(-0.5)), T(-0.0)));
  CHECK(same(scalar::trunc(T(-1.5)), T(-1)));
  CHECK(same(scalar::modf_fraction(T(-1.5)), T(-0.5)));
  CHECK(same(scalar::modf_fraction(-infinity<T>), T(-0.0)));
  CHECK(same(scalar::modf_fraction(T(3)), T(0)));
  CHECK(same(scalar::modf_fraction(not_a_number<T>), not_a_number<T>));
  CHECK(same(scalar::modf_integer(-infinity<T>), -infinity<T>));
}

TEST_CASE_TEMPLATE("signs", T, float, double) {
  CHECK(same(scalar::sign(T(-3)), T(-1)));
  CHECK(same(scalar::sign(T(-0.0)), T(0)));
  CHECK(same(scalar::sign(not_a_number<T>), not_a_number<T>));
  CHECK(same(scalar::sign(infinity<T>), T(1)));
  CHECK(same(scalar::heaviside(T(-0.0), T(0.5)), T(0.5)));
  CHECK(same(scalar::heaviside(T(2), T(0.5)), T(1)));
  CHECK(same(scalar::heaviside(not_a_number<T>, T(0.5)), not_a_number<T>));
  CHECK(same(scalar::heaviside(T(0), not_a_number<T>), not_a_number<T>));
  CHECK(same(scalar::negative(T(0)), T(-0.0)));
  CHECK(same(scalar::absolute(T(-0.0)), T(0)));
  CHECK(same(scalar::copysign(T(2), T(-0.0)), T(-2)));
  CHECK(scalar::signbit(T(-0.0)));
  CHECK_FALSE(scalar::signbit(T(0)));
}

TEST_CASE_TEMPLATE("classes of numbers", T, float, double) {
  CHECK(scalar::isnan(not_a_number<T>));
  CHECK_FALSE(scalar::isnan(infinity<T>));
  CHECK(scalar::isinf(-infinity<T>));
  CHECK_FALSE(scalar::isinf(not_a_number<T>));
  CHECK(scalar::isfinite(std::numeric_limits<T>::max()));
  CHECK_FALSE(scalar::isfinite(infinity<T>));
  CHECK_FALSE(scalar::isfinite(not_a_number<T>));
  CHECK(scalar::isfinite(3));
  CHECK_FALSE(scalar::less(not_a_number<T>, T(1)));
  CHECK(scalar::not_equal(not_a_number<T>, not_a_number<T>));
  CHECK(scalar::logical_and(not_a_number<T>, T(1)));
  CHECK_FALSE(scalar::logical_or(T(-0.0), T(0)));
}

TEST_CASE_TEMPLATE("nextafter and ldexp agree with the C library", T, float, double) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {not_a_number<T>, -infinity<T>,   -Limits::max(),
                      T(-1),           -Limits::min(), -Limits::denorm_min(),
                      T(-0.0),         T(0),           Limits::denorm_min(),
                      Limits::min(),   T(0.1),         T(1),
                      Limits::max(),   infinity<T>};
  for (T x : values) {
    for (T y : values) {
      CAPTURE(x);
      CAPTURE(y);
      CHECK(same(scalar::nextafter(x, y), std::nextafter(x, y)));
    }
    for (int n = -2300; n <= 2300; n += 7) {
      CAPTURE(x);
      CAPTURE(n);
      CHECK(same(scalar::ldexp(x, n), std::ldexp(x, n)));
    }
    CHECK(same(scalar::ldexp(x, std::numeric_limits<int>::max()), std::ldexp(x, 100000)));
    CHECK(same(scalar::ldexp(x, std::numeric_limits<int>::min()), std::ldexp(x, -100000)));
    if (std::isfinite(x)) {
      int exponent = 0;
      CHECK(same(scalar::frexp_mantissa(x), std::frexp(x, &exponent)));
      CHECK(scalar::frexp_exponent(x) == exponent);
    } else {
      CHECK(same(scalar::frexp_mantissa(x), x));
      CHECK(scalar::frexp_exponent(x) == 0);
    }
  }
  CHECK(same(scalar::spacing(T(1)), Limits::epsilon()));
  CHECK(same(scalar::spacing(T(-2)), -2 * Limits::epsilon()));
  CHECK(same(scalar::spacing(T(0)), Limits::denorm_min()));
  CHECK(same(scalar::spacing(infinity<T>), not_a_number<T>));
}

TEST_CASE("ldexp rounds once into the subnormals") {
  std::uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    const float x = std::bit_cast<float>(state);
    if (!std::isfinite(x)) continue;
    const int n = static_cast<int>(state >> 8) % 300 - 290;
    CAPTURE(x);
    CAPTURE(n);
    CHECK(same(scalar::ldexp(x, n), std::ldexp(x, n)));
  }
}

TEST_CASE_TEMPLATE("composed functions at their edges", T, float, double) {
  CHECK(same(scalar::logaddexp(-infinity<T>, -infinity<T>), -infinity<T>));
  CHECK(same(scalar::logaddexp(infinity<T>, -infinity<T>), infinity<T>));
  CHECK(same(scalar::logaddexp(infinity<T>, infinity<T>), infinity<T>));
  CHECK(same(scalar::logaddexp(not_a_number<T>, T(1)), not_a_number<T>));
  CHECK(same(scalar::logaddexp2(T(3), T(3)), T(4)));
  CHECK(same(scalar::logaddexp2(T(1000), T(0)), T(1000)));
  CHECK(same(scalar::sinc(T(0)), T(1)));
  CHECK(same(scalar::sinc(T(3)), T(0)));
  CHECK(scalar::sinc(T(0.5)) == doctest::Approx(0.63661977236758134));
  CHECK(same(scalar::sinc(infinity<T>), not_a_number<T>));
  CHECK(scalar::rsqrt(T(4)) == T(0.5));
  CHECK(same(scalar::rsqrt(T(0)), infinity<T>));
  CHECK(scalar::degrees(T(3.14159265358979323846)) == doctest::Approx(180));
  CHECK(same(scalar::power(T(0), T(0)), T(1)));
  CHECK(same(scalar::power(T(-1), infinity<T>), T(1)));
  CHECK(scalar::select(true, T(1), T(2)) == 1);
  CHECK(same(scalar::select(false, T(1), T(-0.0)), T(-0.0)));
}
