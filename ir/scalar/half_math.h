#pragma once
//! section half_math needs half wide_half
// Functions of half, computed in float and rounded once. The float result is accurate only to about
// 2^-19: nearly every rounded result is the half nearest to the exact one, and none is off by more
// than one unit in the last place. They have no branches or calls, so that loops can be vectorised,
// and do not rely on contraction. Polynomial coefficients minimise the relative error of the whole
// result (Remez) on the interval given in the comment beside them.
#ifdef __CUDACC__
#define HD_HALF_MATH_1(name, function)                                   \
  namespace heddle_scalar {                                              \
  HD_SCALAR half name(half x) { return half::from(function(widen(x))); } \
  }
#else
#define HD_HALF_MATH_1(name, function)                                                  \
  namespace heddle_scalar {                                                             \
  HD_SCALAR half name(half x) { return half::from(function(widen(x))); }                \
  HD_SCALAR wide_half name(wide_half x) { return wide_half::from(function(widen(x))); } \
  }
#endif
namespace heddle_scalar {
// Adding this to a number of at most 22 bits puts the nearest integer into the low bits.
inline constexpr float half_shift = 0x1.8p23f;

HD_SCALAR unsigned int half_least(unsigned int a, unsigned int b) { return a < b ? a : b; }
// Clamps x to [low, high], where high > 0 > low. NaN stays NaN. Uses minima of bits, offset such
// that infinity comes last, and NaN and the other sign first. With a choice of constants, GCC would
// compute everything that follows once for each constant and once for x, and choose at the end.
HD_SCALAR float half_clamp(float x, float high, float low) {
  const unsigned int above = 0x807fffffu, below = 0x007fffffu;
  const unsigned int x_below = half_least(bits_of(x) + above, bits_of(high) + above);
  const unsigned int x_within = half_least(x_below + (below - above), bits_of(low) + below);
  return float_of(x_within - below);
}
HD_SCALAR float half_magnitude(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
// Combines `magnitude`, which is not negative, with the sign of x.
HD_SCALAR float half_with_sign(float magnitude, float x) {
  return float_of(bits_of(magnitude) | (bits_of(x) & 0x80000000u));
}
}  // namespace heddle_scalar

//! section half_quotient needs half_math sqrt
namespace heddle_scalar {
#ifdef __CUDACC__
HD_SCALAR float half_quotient(float a, float b) { return __fdividef(a, b); }
HD_SCALAR float half_root(float x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
#else
HD_SCALAR float half_quotient(float a, float b) { return a / b; }
HD_SCALAR float half_root(float x) { return ::sqrtf(x); }
#endif
}  // namespace heddle_scalar

//! section half_exponential needs half_math
namespace heddle_scalar {
// x == n ln(2) + rest, and power == 2^n.
struct HalfExponent {
  float power, rest;  // 2^n
};
// half_power(n + half_shift) is 2^n.
HD_SCALAR float half_power(float shifted) {
  return float_of((bits_of(shifted) << 23) + 0x3f800000u);
}
HD_SCALAR HalfExponent half_exponent(float x) {
  const float shifted = x * 1.44269504f + half_shift;
  return {half_power(shifted), x - (shifted - half_shift) * 0.693147181f};
}
}  // namespace heddle_scalar

//! section half_exp needs half_exponential exp
//! defines_half exp
// A GPU has an instruction for it, as for exp2 and logarithms.
#ifndef __CUDACC__
namespace heddle_scalar {
HD_SCALAR float half_exp(float x) {
  const HalfExponent e = half_exponent(half_clamp(x, 12.0f, -18.0f));
  const float r = e.rest;
  // [-ln(2) / 2, ln(2) / 2].
  const float p = (0.00829761941f * r + 0.0419156291f) * r + 0.166675761f;
  return (((p * r + 0.499988914f) * r + 0.999999702f) * r + 1.00000012f) * e.power;
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(exp, half_exp)
#endif

//! section half_exp2 needs half_exponential exp2
//! defines_half exp2
#ifndef __CUDACC__
namespace heddle_scalar {
HD_SCALAR float half_exp2(float x) {
  const float clamped = half_clamp(x, 17.0f, -26.0f);
  const float shifted = clamped + half_shift;
  const float r = clamped - (shifted - half_shift);
  // [-1/2, 1/2].
  const float p = (0.00132764725f * r + 0.00967554096f) * r + 0.0555071309f;
  return (((p * r + 0.240221202f) * r + 0.693146944f) * r + 1.00000012f) * half_power(shifted);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(exp2, half_exp2)
#endif

//! section half_expm1 needs half_exponential expm1
//! defines_half expm1
namespace heddle_scalar {
HD_SCALAR float half_expm1(float x) {
  const HalfExponent e = half_exponent(half_clamp(x, 12.0f, -12.0f));
  const float r = e.rest;
  // [-ln(2) / 2, ln(2) / 2], exactly 1 at 0.
  const float p = (0.00833807606f * r + 0.0418727696f) * r + 0.166668311f;
  const float near = ((p * r + 0.49999401f) * r + 1) * r;
  // Subtracting +0 keeps the sign of a zero.
  return near * e.power - (1 - e.power);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(expm1, half_expm1)

//! section half_hyperbolic needs half_exponential
namespace heddle_scalar {
// sinh and cosh of the rest in [-ln(2) / 2, ln(2) / 2], with coefficient exactly 1 at 0; and twice
// sinh and cosh of n ln(2). whole_sine is negated, so that subtracting it keeps the sign of a zero.
struct HalfHyperbolic {
  float sine, cosine, whole_sine, whole_cosine;
};
HD_SCALAR HalfHyperbolic half_hyperbolic(float x) {
  const float clamped = half_clamp(x, 12.0f, -12.0f);
  const float shifted = clamped * 1.44269504f + half_shift;
  const float r = clamped - (shifted - half_shift) * 0.693147181f;
  const float z = r * r;
  const float power = half_power(shifted);
  const float inverse = float_of(0x3f800000u - (bits_of(shifted) << 23));
  return {((0.00836656243f * z + 0.166665435f) * z + 1) * r,
          (0.0418997481f * z + 0.499991328f) * z + 1, inverse - power, inverse + power};
}
}  // namespace heddle_scalar

//! section half_sinh needs half_hyperbolic sinh
//! defines_half sinh
namespace heddle_scalar {
HD_SCALAR float half_sinh(float x) {
  const HalfHyperbolic h = half_hyperbolic(x);
  return 0.5f * (h.whole_cosine * h.sine - h.whole_sine * h.cosine);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(sinh, half_sinh)

//! section half_cosh needs half_hyperbolic cosh
//! defines_half cosh
namespace heddle_scalar {
HD_SCALAR float half_cosh(float x) {
  const HalfHyperbolic h = half_hyperbolic(x);
  return 0.5f * (h.whole_cosine * h.cosine - h.whole_sine * h.sine);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(cosh, half_cosh)

//! section half_tanh needs half_quotient tanh
//! defines_half tanh
namespace heddle_scalar {
HD_SCALAR float half_tanh(float value) {
  // Beyond this value, the result rounds to 1.
  const float x = half_clamp(value, 4.51f, -4.51f);
  const float z = x * x;
  // [0, 4.51], exactly 1 at 0.
  const float top = ((0.0017012537f * z + 0.117491096f) * z + 1) * x;
  const float bottom = ((6.90293746e-05f * z + 0.0186506379f) * z + 0.450818807f) * z + 1;
  return half_quotient(top, bottom);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(tanh, half_tanh)

//! section half_logarithm needs half_math
namespace heddle_scalar {
// x == 2^-scale * (1 + rest), with the rest in [sqrt(1/2) - 1, sqrt(2) - 1]. The exponent is stored
// negated, so that subtracting it keeps the sign of a zero.
struct HalfLogarithm {
  int scale;
  float rest;
};
HD_SCALAR HalfLogarithm half_logarithm(float x) {
  const int scale = static_cast<int>(0x3fb504f3u - bits_of(x)) >> 23;
  return {scale, float_of(bits_of(x) + (static_cast<unsigned int>(scale) << 23)) - 1};
}
// log(1 + x) on [sqrt(1/2) - 1, sqrt(2) - 1].
HD_SCALAR float half_log_near_1(float x) {
  const float p = (0.119494453f * x - 0.185876086f) * x + 0.204491198f;
  return ((((p * x - 0.249190629f) * x + 0.333192199f) * x - 0.500008464f) * x + 1) * x;
}
HD_SCALAR float half_log_of(HalfLogarithm x) {
  return half_log_near_1(x.rest) - static_cast<float>(x.scale) * 0.693147181f;
}
// log(1 + x) for x > -1. x has more significant digits than 1 + x.
HD_SCALAR float half_log_after_1(float x) {
  const HalfLogarithm u = half_logarithm(1 + x);
  return half_log_of({u.scale, u.scale == 0 ? x : u.rest});
}
// `logarithm` for positive finite x; x for +infinity and NaN. If x <= 0, the bits of x are shifted
// into the mantissa of -infinity: a zero gives -infinity, a negative number gives NaN.
HD_SCALAR float half_log_or_special(float x, float logarithm) {
  const float defined = x < float_of(0x7f800000u) ? logarithm : x;
  return x <= 0 ? float_of((bits_of(x) >> 8) | 0xff800000u) : defined;
}
}  // namespace heddle_scalar

//! section half_log needs half_logarithm log
//! defines_half log
#ifndef __CUDACC__
namespace heddle_scalar {
HD_SCALAR float half_log(float x) { return half_log_or_special(x, half_log_of(half_logarithm(x))); }
}  // namespace heddle_scalar
HD_HALF_MATH_1(log, half_log)
#endif

//! section half_log2 needs half_logarithm log2
//! defines_half log2
#ifndef __CUDACC__
namespace heddle_scalar {
HD_SCALAR float half_log2(float x) {
  const HalfLogarithm m = half_logarithm(x);
  const float result = half_log_near_1(m.rest) * 1.44269504f - static_cast<float>(m.scale);
  return half_log_or_special(x, result);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(log2, half_log2)
#endif

//! section half_log10 needs half_logarithm log10
//! defines_half log10
#ifndef __CUDACC__
namespace heddle_scalar {
HD_SCALAR float half_log10(float x) {
  const HalfLogarithm m = half_logarithm(x);
  const float near = half_log_near_1(m.rest) * 0.434294482f;
  return half_log_or_special(x, near - static_cast<float>(m.scale) * 0.30103f);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(log10, half_log10)
#endif

//! section half_log1p needs half_logarithm log1p
//! defines_half log1p
namespace heddle_scalar {
HD_SCALAR float half_log1p(float x) { return half_log_or_special(1 + x, half_log_after_1(x)); }
}  // namespace heddle_scalar
HD_HALF_MATH_1(log1p, half_log1p)

//! section half_arcsinh needs half_logarithm half_quotient arcsinh
//! defines_half arcsinh
namespace heddle_scalar {
HD_SCALAR float half_arcsinh(float x) {
  const float size = half_magnitude(x);
  const float z = size * size;
  const float large = half_log_of(half_logarithm(size + half_root(z + 1)));
  // [0, 1/4], exactly 1 at 0.
  const float small = ((0.0712947398f * z - 0.166596219f) * z + 1) * size;
  const float finite = size < 0.25f ? small : large;
  return half_with_sign(size < float_of(0x7f800000u) ? finite : size, x);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(arcsinh, half_arcsinh)

//! section half_arccosh needs half_logarithm half_quotient arccosh
//! defines_half arccosh
namespace heddle_scalar {
HD_SCALAR float half_arccosh(float x) {
  const float past = x - 1;
  const float finite = half_log_after_1(past + half_root(past * (x + 1)));
  const float defined = x < float_of(0x7f800000u) ? finite : x;
  return x < 1 ? float_of(bits_of(x) | 0x7fc00000u) : defined;
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(arccosh, half_arccosh)

//! section half_arctanh needs half_logarithm half_quotient arctanh
//! defines_half arctanh
namespace heddle_scalar {
HD_SCALAR float half_arctanh(float x) {
  const float size = half_magnitude(x);
  const float ratio = half_quotient(2 * size, 1 - size);
  const float within = size == 1 ? ratio : 0.5f * half_log_after_1(ratio);
  return half_with_sign(size <= 1 ? within : float_of(bits_of(size) | 0x7fc00000u), x);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(arctanh, half_arctanh)
