#pragma once
//! section classify needs core
//! defines isfinite isinf isnan
namespace heddle_scalar {
template <class T>
HD_SCALAR bool isfinite(T value) {
  const auto x = widen(value);
  return x - x == 0;
}
template <class T>
HD_SCALAR bool isnan(T value) {
  const auto x = widen(value);
  return x != x;
}
template <class T>
HD_SCALAR bool isinf(T value) {
  const auto x = widen(value);
  return (x == x) & (x - x != 0);
}
}  // namespace heddle_scalar

//! section signbit needs bits
//! defines signbit
namespace heddle_scalar {
template <class T>
HD_SCALAR bool signbit(T x) {
  if constexpr (is_same<T, bool>) {
    return false;
  } else if constexpr (is_integer<T>) {
    if constexpr (is_signed<T>) {
      return x < 0;
    } else {
      return false;
    }
  } else {
    const auto bits = bits_of(widen(x));
    return (bits >> (8 * sizeof(bits) - 1)) != 0;
  }
}
}  // namespace heddle_scalar

//! section copysign needs math
//! defines copysign
HD_PLAIN_MATH_2(copysign)
HD_MATH_2(copysign, copysign)

//! section modf needs rounding copysign
//! defines modf_fraction
namespace heddle_scalar {
template <class T>
HD_SCALAR T modf_fraction(T value) {
  const auto x = widen(value);
  using X = decltype(widen(value));
  const X whole = trunc(x);
  const X fraction = x == whole ? static_cast<X>(0) : x - whole;
  return narrow<T>(copysign(fraction, x));
}
}  // namespace heddle_scalar

//! section nextafter needs bits
//! defines nextafter spacing
namespace heddle_scalar {
// The bits of the neighbour of the number with bits `x`: away from 0 or towards it. From 0, the
// smallest number with the given sign. Bits, as integers, increase with the magnitude.
template <class U>
HD_SCALAR U next_bits(U x, bool is_zero, bool away, bool negative) {
  const U least = static_cast<U>((negative ? static_cast<U>(1) << (8 * sizeof(U) - 1) : 0) | 1);
  const U stepped = static_cast<U>(away ? x + 1 : x - 1);
  return is_zero ? least : stepped;
}
template <class X>
HD_SCALAR X nextafter_float(X x, X y) {
  const X next = float_of(next_bits(bits_of(x), x == 0, (x < y) == (x > 0), y < 0));
  return x != x || y != y ? x + y : x == y ? y : next;
}
template <class X>
HD_SCALAR X spacing_float(X x) {
  const X magnitude = x < 0 ? -x : x;
  const X gap = float_of(bits_of(x == 0 ? static_cast<X>(0) : magnitude) + 1) - magnitude;
  return x - x != 0 ? x - x : x < 0 ? -gap : gap;
}
HD_SCALAR float nextafter(float x, float y) { return nextafter_float(x, y); }
HD_SCALAR double nextafter(double x, double y) { return nextafter_float(x, y); }
HD_SCALAR float spacing(float x) { return spacing_float(x); }
HD_SCALAR double spacing(double x) { return spacing_float(x); }
// In the format of T. As in NumPy, for half, nextafter returns the first of two equal operands, and
// spacing is the distance to the next larger number.
template <class T>
HD_SCALAR T nextafter(T a, T b) {
  const float x = widen(a);
  const float y = widen(b);
  const T next{next_bits(a.bits, x == 0, (x < y) == (x > 0), y < 0)};
  const T same = T::mantissa_bits == 10 ? a : b;
  return x != x || y != y ? T::from(x + y) : x == y ? same : next;
}
template <class T>
HD_SCALAR T spacing(T a) {
  const float x = widen(a);
  const bool negative = (a.bits & 0x8000) != 0;
  const bool inwards = T::mantissa_bits == 10 && x < 0;
  const T next{next_bits(a.bits, x == 0, !inwards, negative)};
  const float gap = widen(next) - x;
  const bool upwards = T::mantissa_bits == 10 && x == 0 && negative;
  return T::from(x - x != 0 ? x - x : upwards ? -gap : gap);
}
}  // namespace heddle_scalar

//! section ldexp needs bits
//! defines ldexp
namespace heddle_scalar {
// The part of a scaling by 2^n that one multiplication does: up by at most `reach`, or down by a
// smaller step, so that a normal number stays normal until the last multiplication.
HD_SCALAR int exponent_step(int n, int reach, int digits) {
  const int up = n > reach ? reach : 0;
  return n < -reach ? digits - reach : up;
}
HD_SCALAR int clamp_exponent(int n, int reach) {
  const int low = n < -reach ? -reach : n;
  return low > reach ? reach : low;
}
// x * 2^n, rounded once.
HD_SCALAR float ldexp(float x, int n) {
  const int first = exponent_step(n, 126, 24);
  const int second = exponent_step(n - first, 126, 24);
  const int last = clamp_exponent(n - first - second, 126);
  const float stepped = x * float_of(static_cast<unsigned int>(first + 127) << 23) *
                        float_of(static_cast<unsigned int>(second + 127) << 23);
  return stepped * float_of(static_cast<unsigned int>(last + 127) << 23);
}
HD_SCALAR double ldexp(double x, int n) {
  const int first = exponent_step(n, 1022, 53);
  const int second = exponent_step(n - first, 1022, 53);
  const int last = clamp_exponent(n - first - second, 1022);
  const double stepped = x * float_of(static_cast<unsigned long long>(first + 1023) << 52) *
                         float_of(static_cast<unsigned long long>(second + 1023) << 52);
  return stepped * float_of(static_cast<unsigned long long>(last + 1023) << 52);
}
template <class T>
HD_SCALAR T ldexp(T x, int n) {
  return narrow<T>(ldexp(widen(x), n));
}
}  // namespace heddle_scalar

//! section frexp needs bits
//! defines frexp_mantissa frexp_exponent
namespace heddle_scalar {
// x == mantissa * 2^exponent, with the mantissa in [1/2, 1). Zeros, infinities and NaN have
// exponent 0.
HD_SCALAR float frexp_mantissa(float x) {
  const bool subnormal = (bits_of(x) & 0x7f800000u) == 0;
  const unsigned int bits = bits_of(subnormal ? x * 0x1p64f : x);
  const float mantissa = float_of((bits & 0x807fffffu) | 0x3f000000u);
  return x == 0 || x - x != 0 ? x : mantissa;
}
HD_SCALAR int frexp_exponent(float x) {
  const bool subnormal = (bits_of(x) & 0x7f800000u) == 0;
  const unsigned int bits = bits_of(subnormal ? x * 0x1p64f : x);
  const int exponent = static_cast<int>((bits >> 23) & 0xffu) - (subnormal ? 190 : 126);
  return x == 0 || x - x != 0 ? 0 : exponent;
}
HD_SCALAR double frexp_mantissa(double x) {
  const bool subnormal = (bits_of(x) & 0x7ff0000000000000ull) == 0;
  const unsigned long long bits = bits_of(subnormal ? x * 0x1p64 : x);
  const double mantissa = float_of((bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
  return x == 0 || x - x != 0 ? x : mantissa;
}
HD_SCALAR int frexp_exponent(double x) {
  const bool subnormal = (bits_of(x) & 0x7ff0000000000000ull) == 0;
  const unsigned long long bits = bits_of(subnormal ? x * 0x1p64 : x);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ffu) - (subnormal ? 1086 : 1022);
  return x == 0 || x - x != 0 ? 0 : exponent;
}
template <class T>
HD_SCALAR T frexp_mantissa(T x) {
  return narrow<T>(frexp_mantissa(widen(x)));
}
template <class T>
HD_SCALAR int frexp_exponent(T x) {
  return frexp_exponent(widen(x));
}
}  // namespace heddle_scalar
