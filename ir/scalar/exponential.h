#pragma once
//! section sqrt needs math
//! defines sqrt
HD_PLAIN_MATH(sqrt)
HD_MATH_1(sqrt, sqrt)

//! section rsqrt needs core
//! defines rsqrt
#ifndef __CUDACC__
extern "C" float sqrtf(float) noexcept;
extern "C" double sqrt(double) noexcept;
#endif
namespace heddle_scalar {
#ifdef __CUDACC__
HD_SCALAR float rsqrt(float x) { return ::rsqrtf(x); }
HD_SCALAR double rsqrt(double x) { return ::rsqrt(x); }
#else
HD_SCALAR float rsqrt(float x) { return 1 / ::sqrtf(x); }
HD_SCALAR double rsqrt(double x) { return 1 / ::sqrt(x); }
#endif
template <class T>
HD_SCALAR T rsqrt(T x) {
  return narrow<T>(rsqrt(widen(x)));
}
}  // namespace heddle_scalar

//! section cbrt needs math vector_math bits
//! defines cbrt
#ifdef __CUDACC__
HD_MATH_1(cbrt, cbrt)
#else
HD_VECTOR_NUMBERS_1(cbrt, cbrt, double)
namespace heddle_scalar {
// libmvec's cbrt for float has an error of 3 units in the last place. Two steps of Halley's method
// in double, starting with 5 correct bits.
HD_SCALAR float cbrt(float value) {
  const unsigned int bits = bits_of(value) & 0x7fffffffu;
  const double x = float_of(bits);
  const unsigned int third = static_cast<unsigned int>(bits_of(x) >> 32) / 3 + 0x2a9f7893u;
  double root = float_of(static_cast<unsigned long long>(third) << 32);
  for (int step = 0; step < 2; ++step) {
    const double cube = root * root * root;
    root *= (x + x + cube) / (x + cube + cube);
  }
  const bool special = (bits == 0) | (bits >= 0x7f800000u);
  const float size = special ? float_of(bits) : static_cast<float>(root);
  return float_of(bits_of(size) | (bits_of(value) & 0x80000000u));
}
}  // namespace heddle_scalar
HD_SOFT_1(cbrt)
#endif

//! section exp needs math vector_math double_exponential
//! defines exp
#ifdef __CUDACC__
HD_SOFT_APPROXIMATE_MATH_1(exp, exp)
#else
HD_FLOAT_MATH_1(exp, exp)
namespace heddle_scalar {
HD_SCALAR double exp(double x) { return double_exp(x); }
}  // namespace heddle_scalar
HD_SOFT_1(exp)
#endif

//! section exp2 needs math vector_math
//! defines exp2
HD_VECTOR_MATH_1(exp2, exp2)

//! section expm1 needs math vector_math
//! defines expm1
HD_VECTOR_MATH_1(expm1, expm1)

//! section log needs math vector_math
//! defines log
HD_APPROXIMATE_MATH_1(log, log)

//! section log2 needs math vector_math
//! defines log2
HD_APPROXIMATE_MATH_1(log2, log2)

//! section log10 needs math vector_math
//! defines log10
HD_APPROXIMATE_MATH_1(log10, log10)

//! section log1p needs math vector_math
//! defines log1p
HD_VECTOR_MATH_1(log1p, log1p)

//! section logaddexp needs exp log1p
//! defines logaddexp
namespace heddle_scalar {
template <class T>
HD_SCALAR T logaddexp(T a, T b) {
  const auto x = widen(a);
  const auto y = widen(b);
  using X = decltype(widen(a));
  const X distance = x > y ? y - x : x - y;
  const X larger = x > y ? x : y;
  const X sum = larger + log1p(exp(distance));
  // For equal infinities, the distance is NaN.
  return narrow<T>(x == y ? x + static_cast<X>(0.693147180559945309417) : sum);
}
}  // namespace heddle_scalar

//! section logaddexp2 needs exp2 log1p
//! defines logaddexp2
namespace heddle_scalar {
template <class T>
HD_SCALAR T logaddexp2(T a, T b) {
  const auto x = widen(a);
  const auto y = widen(b);
  using X = decltype(widen(a));
  const X distance = x > y ? y - x : x - y;
  const X larger = x > y ? x : y;
  const X sum = larger + static_cast<X>(1.44269504088896340736) * log1p(exp2(distance));
  return narrow<T>(x == y ? x + 1 : sum);
}
}  // namespace heddle_scalar

//! section power needs math vector_math
//! defines power
HD_VECTOR_MATH_2(power_float, pow)
namespace heddle_scalar {
// Integers by repeated squaring, wrapping. With a negative exponent: 1 / x^-y, truncated to an
// integer.
template <class T>
HD_SCALAR T power_integer(T base, T exponent) {
  auto result = ring(static_cast<T>(1));
  auto factor = ring(base);
  if constexpr (is_signed<T>) {
    if (exponent < 0) {
      if (base == -1) return static_cast<T>(exponent % 2 == 0 ? 1 : -1);
      return static_cast<T>(base == 1);
    }
  }
  for (auto rest = ring(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return narrow<T>(result);
}
template <class T>
HD_SCALAR T power(T base, T exponent) {
  if constexpr (is_integer<T>) {
    return power_integer(base, exponent);
  } else {
    return power_float(base, exponent);
  }
}
}  // namespace heddle_scalar
