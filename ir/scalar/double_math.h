#pragma once
//! section double_math needs bits
// Functions of double, within one unit in the last place of the nearest result. They have no
// branches, so that loops over them can be vectorised. Polynomial coefficients minimise the
// relative error of the whole result (Remez) on the interval given in the comment beside them.
namespace heddle_scalar {
// a * b + c, rounded once if the processor has fused multiply-add.
HD_SCALAR double fused(double a, double b, double c) {
#ifdef __CUDACC__
  return ::fma(a, b, c);
#elif defined(__FMA__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
// c - a * b, for a * b close to c, without rounding the product.
HD_SCALAR double difference(double c, double a, double b) {
#if defined(__CUDACC__) || defined(__FMA__)
  return fused(-a, b, c);
#else
  const unsigned long long upper = 0xfffffffff8000000ull;
  const double a_head = float_of(bits_of(a) & upper), a_rest = a - a_head;
  const double b_head = float_of(bits_of(b) & upper), b_rest = b - b_head;
  return ((c - a_head * b_head) - (a_head * b_rest + a_rest * b_head)) - a_rest * b_rest;
#endif
}
HD_SCALAR double size_of(double x) { return float_of(bits_of(x) & 0x7fffffffffffffffull); }
// Combines `size`, which is not negative, with the sign of x.
HD_SCALAR double with_sign(double size, double x) {
  return float_of(bits_of(size) | (bits_of(x) & 0x8000000000000000ull));
}
// Adding this to a number of at most 51 bits puts the nearest integer into the low bits.
inline constexpr double double_shift = 0x1.8p52;
// double_power(n + this) is 2^n.
inline constexpr double double_power_shift = double_shift + 1023;
HD_SCALAR double double_power(double shifted) { return float_of(bits_of(shifted) << 52); }
}  // namespace heddle_scalar

//! section double_exponential needs double_math
//! host
#ifndef __CUDACC__
namespace heddle_scalar {
HD_SCALAR double double_exp(double value) {
  const double above = value < -746 ? -746 : value;
  const double x = above > 710 ? 710 : above;
  // x is n ln(2) + r. The product of n and the first part of ln(2) is exact.
  const double n = fused(x, 1.4426950408889634, double_shift) - double_shift;
  const double r = fused(-n, 0x1.a39ef35793c76p-33, fused(-n, 0x1.62e42feep-1, x));
  // [-ln(2) / 2, ln(2) / 2].
  double p = fused(2.5117722800795405e-08, r, 2.7631175231039334e-07);
  p = fused(p, r, 2.7557216770924684e-06);
  p = fused(p, r, 2.4801490268896212e-05);
  p = fused(p, r, 0.00019841269916810248);
  p = fused(p, r, 0.0013888888946658464);
  p = fused(p, r, 0.0083333333333075);
  p = fused(p, r, 0.04166666666651701);
  p = fused(p, r, 0.166666666666667);
  p = fused(p, r, 0.5000000000000012);
  const double near = 1 + fused(p * r, r, r);
  // 2^n is the product of 2^(about n / 2) and the rest, because 2^n may not be a normal number.
  const double half = fused(n, 0.5, double_power_shift);
  const double rest = n - (half - double_power_shift);
  return near * double_power(half) * double_power(rest + double_power_shift);
}
}  // namespace heddle_scalar
#endif

//! section double_sinh needs double_math
//! host
#ifndef __CUDACC__
namespace heddle_scalar {
// For x = n ln(2) + r: sinh(x) = a cosh(r) + b sinh(r), with a = (2^n - 2^-n) / 2 and b = (2^n +
// 2^-n) / 2.
HD_SCALAR double double_sinh(double value) {
  const double size = size_of(value);
  const double x = size > 710.5 ? 710.5 : size;
  const double n = fused(x, 1.4426950408889634, double_shift) - double_shift;
  const double coarse = fused(-n, 0x1.62e42feep-1, x), fine = n * 0x1.a39ef35793c76p-33;
  const double r = coarse - fine, r_rest = (coarse - r) - fine;
  const double z = r * r;
  // [0, (ln(2) / 2)^2].
  double s = fused(2.5108964813625437e-08, z, 2.755724443131229e-06);
  s = fused(s, z, 0.0001984126988588496);
  s = fused(s, z, 0.008333333333321738);
  s = fused(s, z, 0.16666666666666677);
  double c = fused(2.76312448808592e-07, z, 2.480149004938545e-05);
  c = fused(c, z, 0.0013888888946903255);
  c = fused(c, z, 0.04166666666651589);
  c = fused(c, z, 0.5000000000000012);
  const double past = fused(s * z, r, r_rest);
  const double sine = r + past, sine_rest = (r - sine) + past;
  // Halves of a and b, since a and b may overflow.
  const double power = double_power(n + (double_power_shift - 2));
  const double inverse = 0.0625 * float_of(0x7fe0000000000000ull - bits_of(power));
  const double a = power - inverse, a_rest = (power - a) - inverse, b = power + inverse;
  const double result = 2 * (a + fused(b, sine, fused(a, c * z, fused(b, sine_rest, a_rest))));
  // For tiny x the result is x: half of a subnormal may underflow.
  const double finite = size < 0x1p-28 ? size : result;
  return with_sign(value != value ? value : finite, value);
}
}  // namespace heddle_scalar
#endif
