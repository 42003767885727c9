#pragma once
//! section half needs bits
// IEEE binary16. Conversions are exact or round to nearest even. They keep the bits of a NaN.
namespace heddle_scalar {
struct half {
  unsigned short bits;
  static constexpr int mantissa_bits = 10;

#ifdef __CUDACC__
  static HD_SCALAR half from(float x) {
    half h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
    return h;
  }
  static HD_SCALAR half from(double x) {
    half h;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.bits) : "d"(x));
    return h;
  }
#else
  // All cases are computed and one is selected, so that loops can be vectorised. Selection uses
  // minima and maxima, because GCC compiles dependent choices to branches.
  static HD_SCALAR unsigned int least(unsigned int a, unsigned int b) { return a < b ? a : b; }
  static HD_SCALAR unsigned int most(unsigned int a, unsigned int b) { return a < b ? b : a; }
  static HD_SCALAR half from(float x) {
    const unsigned int magnitude = bits_of(x) & 0x7fffffffu;
    // 2^16 and above become infinity.
    const unsigned int finite = least(magnitude, 0x47800000u);
    // A power of two. Adding it rounds the number to the bits that the result has. It is 2^13 times
    // the power of two of the number, or of the smallest normal half.
    const unsigned int power = most(finite & 0x7f800000u, 0x38800000u) + (13u << 23);
    const unsigned int sum = bits_of(float_of(finite) + float_of(power));
    const unsigned int rounded = sum - power + (power >> 13) - (126u << 10);
    const unsigned int nan = most(magnitude >> 13, 0x3fc01u) & 0x7fffu;
    const unsigned int result = x != x ? nan : rounded;
    return half{static_cast<unsigned short>(result | ((bits_of(x) >> 16) & 0x8000u))};
  }
  // Converts through a float that is rounded to odd, so that the second rounding is correct.
  static HD_SCALAR half from(double x) {
    const float nearest = static_cast<float>(x);
    const double back = nearest;
    const unsigned int f = bits_of(nearest);
    const bool inexact = (back < x) | (back > x);
    const bool away = x < 0 ? back < x : back > x;
    const unsigned int odd = away ? f - 1u : f + 1u;
    return from(float_of((inexact & ((f & 1u) == 0)) ? odd : f));
  }
#endif
};
template <>
inline constexpr bool is_soft<half> = true;

HD_SCALAR float widen(half h) {
#ifdef __CUDACC__
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h.bits));
  return x;
#else
  const unsigned int magnitude = (h.bits & 0x7fffu) << 13;
  const unsigned int normal = magnitude + 0x38000000u;
  // 2^-14 * (1 + f) - 2^-14 is exact. For the bits of a subnormal half, it is less than `normal`;
  // for those of a normal half, it is not.
  const unsigned int subnormal = bits_of(float_of(magnitude + 0x38800000u) - 0x1p-14f);
  const unsigned int finite = half::least(normal, subnormal);
  const unsigned int special = float_of(finite) >= 0x1p16f ? 0x7f800000u : 0u;
  const unsigned int sign = (h.bits & 0x8000u) << 16;
  return float_of(finite | special | sign);
#endif
}
#ifdef __CUDACC__
// The same result as float arithmetic with one rounding, in one instruction.
#define HD_HALF_ARITHMETIC(name, instruction)                                       \
  HD_SCALAR half name(half a, half b) {                                             \
    half result;                                                                    \
    asm(instruction " %0, %1, %2;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits)); \
    return result;                                                                  \
  }
HD_HALF_ARITHMETIC(add, "add.rn.f16")
HD_HALF_ARITHMETIC(subtract, "sub.rn.f16")
HD_HALF_ARITHMETIC(multiply, "mul.rn.f16")
// A float quotient that is accurate to one unit in the last place rounds to the half nearest to a /
// b, because no quotient of halves is that close to the midpoint of two halves.
HD_SCALAR half divide(half a, half b) {
  const float x = widen(a), y = widen(b);
  float inverse;
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(y));
  const float first = __fmul_rn(x, inverse);
  const float second = __fmaf_rn(__fmaf_rn(-y, first, x), inverse, first);
  const bool ordinary = first != 0 && ::fabsf(first) < __int_as_float(0x7f800000);
  return half::from(ordinary ? second : first);
}
#endif
}  // namespace heddle_scalar
#ifndef HD_LIBRARY
using heddle_scalar::half;
#endif

//! section half_divisor needs divisor half
// The inverse is stored as the sum of two floats of the same sign, so the quotient is one product
// and one sum. It is accurate to half a unit in the last place of float, and exact if it is the
// midpoint of two halves. The second float is never 0, because infinity times 0 would be NaN.
#if defined(__CUDACC__) && !defined(HD_APPROXIMATE)
namespace heddle_scalar {
template <>
struct Divisor<half> {
  half value;
  float inverse, rest;

  HD_SCALAR Divisor() = default;
  HD_SCALAR Divisor(half b) : value(b) {
    const float y = widen(b);
    inverse = __frcp_rz(y);
    rest = __fmul_rn(__fmaf_rn(-y, inverse, 1.0f), inverse);
    if (!(rest < 0 || rest > 0)) rest = inverse * 0x1p-60f;
  }
  HD_SCALAR bool ordinary() const { return true; }
};
HD_SCALAR half divide(half a, const Divisor<half>& b, bool&) {
  const float x = widen(a);
  return half::from(__fmaf_rn(x, b.inverse, __fmul_rn(x, b.rest)));
}
}  // namespace heddle_scalar
#endif
