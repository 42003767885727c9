#pragma once
//! section bfloat16 needs bits
// The upper half of a float. Conversion rounds to nearest even and keeps the bits of a NaN. Doubles
// are rounded to float first, as in ml_dtypes.
namespace heddle_scalar {
struct bfloat16 {
  unsigned short bits;
  static constexpr int mantissa_bits = 7;

  static HD_SCALAR bfloat16 from(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // Converts a pair: a conversion of one number runs at a quarter of the rate.
    unsigned int pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    return bfloat16{static_cast<unsigned short>(pair)};
#else
    const unsigned int f = bits_of(x);
    const unsigned int rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    const unsigned int nan = (f >> 16) | ((f & 0x007f0000u) == 0 ? 1u : 0u);
    return bfloat16{static_cast<unsigned short>((f & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
#endif
  }
  static HD_SCALAR bfloat16 from(double x) { return from(static_cast<float>(x)); }
};
template <>
inline constexpr bool is_soft<bfloat16> = true;

HD_SCALAR float widen(bfloat16 b) { return float_of(static_cast<unsigned int>(b.bits) << 16); }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// The same results as float arithmetic with one rounding, in one instruction.
HD_SCALAR bfloat16 fused(bfloat16 a, unsigned short b, unsigned short c) {
  bfloat16 result;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result.bits) : "h"(a.bits), "h"(b), "h"(c));
  return result;
}
HD_SCALAR bfloat16 add(bfloat16 a, bfloat16 b) { return fused(a, 0x3f80, b.bits); }
HD_SCALAR bfloat16 subtract(bfloat16 a, bfloat16 b) { return fused(b, 0xbf80, a.bits); }
HD_SCALAR bfloat16 multiply(bfloat16 a, bfloat16 b) { return fused(a, b.bits, 0x8000); }
// A float quotient that is accurate to a few units in the last place rounds to the bfloat16 nearest
// to a / b, because no quotient of bfloat16 is that close to the midpoint of two, unless it is
// subnormal.
HD_SCALAR bfloat16 divide(bfloat16 a, bfloat16 b) {
  const float x = widen(a), y = widen(b);
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(y));
  const float quotient = __fmul_rn(x, inverse);
  const float size = ::fabsf(quotient);
  return bfloat16::from(size > 0x1p-120f && size < 0x1p120f ? quotient : x / y);
}
#endif
}  // namespace heddle_scalar
#ifndef HD_LIBRARY
using heddle_scalar::bfloat16;
#endif
