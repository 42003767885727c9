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
    bfloat16 b;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(x));
    return b;
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
}  // namespace heddle_scalar
#ifndef HD_LIBRARY
using heddle_scalar::bfloat16;
#endif
