#pragma once
//! section wide_half needs half
// A half in host loops: its bits, its value as a float, and the float that it was rounded from. The
// compiler removes the members that are not used, so that copies stay copies and arithmetic stays
// in float.
#ifndef __CUDACC__
namespace heddle_scalar {
// Rounds to half as half::from() does, but returns a float. Adding and subtracting `unit` rounds to
// the unit of the half. `unit` is at least that of the smallest normal half, so subnormals need no
// special case.
HD_SCALAR float rounded_to_half(float x) {
  const unsigned int magnitude = bits_of(x) & 0x7fffffffu;
  const unsigned int exponent = magnitude & 0x7f800000u;
  const float unit = float_of((exponent > 0x38800000u ? exponent : 0x38800000u) + 0x06800000u);
  const float rounded = (float_of(magnitude) + unit) - unit;
  const float finite = float_of(magnitude >= 0x477ff000u ? 0x7f800000u : bits_of(rounded));
  const float number = magnitude > 0x7f800000u ? x : finite;
  return float_of(bits_of(number) | (bits_of(x) & 0x80000000u));
}

struct wide_half {
  unsigned short bits;
  float value, unrounded;
  static constexpr int mantissa_bits = half::mantissa_bits;

  HD_SCALAR wide_half() = default;
  HD_SCALAR wide_half(unsigned short pattern, float number)
      : bits(pattern), value(number), unrounded(number) {}
  HD_SCALAR wide_half(unsigned short pattern) : wide_half(pattern, widen(half{pattern})) {}
  static HD_SCALAR wide_half from(float x) {
    wide_half result(half::from(x).bits, rounded_to_half(x));
    result.unrounded = x;
    return result;
  }
  static HD_SCALAR wide_half from(double x) { return wide_half(half::from(x).bits); }
};
template <>
inline constexpr bool is_soft<wide_half> = true;

HD_SCALAR float widen(wide_half h) { return h.value; }
HD_SCALAR wide_half negated(wide_half h) {
  h.bits ^= 0x8000;
  h.value = -h.value;
  h.unrounded = -h.unrounded;
  return h;
}
HD_SCALAR float magnitude_of(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
HD_SCALAR wide_half magnitude_of(wide_half h) {
  h.bits &= 0x7fff;
  h.value = magnitude_of(h.value);
  h.unrounded = magnitude_of(h.unrounded);
  return h;
}
// As the other versions of select(), with bit masks.
HD_SCALAR wide_half select(bool condition, wide_half a, wide_half b) {
  const unsigned int mask = condition ? ~0u : 0u;
  const auto chosen = [&](unsigned int x, unsigned int y) { return (x & mask) | (y & ~mask); };
  wide_half result;
  result.bits = static_cast<unsigned short>(chosen(a.bits, b.bits));
  result.value = float_of(chosen(bits_of(a.value), bits_of(b.value)));
  result.unrounded = float_of(chosen(bits_of(a.unrounded), bits_of(b.unrounded)));
  return result;
}
}  // namespace heddle_scalar
#endif

//! section half_strips needs half
// Converts many elements at once, with instructions that GCC 12 does not generate itself. The
// functions are static: with one shared copy, a module compiled for an older processor might
// replace it.
#define HD_OF_THIS_FILE static __attribute__((noinline, unused))
namespace heddle_scalar {
#if defined(__F16C__) && !defined(__clang__)
#define HD_HALVES_AT_ONCE
typedef short EightHalves __attribute__((vector_size(16)));
typedef float EightFloats __attribute__((vector_size(32)));
#endif
HD_OF_THIS_FILE void widen_all(float* __restrict__ to, const unsigned short* __restrict__ from,
                               long long count) {
  long long i = 0;
#ifdef HD_HALVES_AT_ONCE
  for (; i + 8 <= count; i += 8) {
    EightHalves halves;
    __builtin_memcpy(&halves, from + i, sizeof halves);
    const EightFloats floats = __builtin_ia32_vcvtph2ps256(halves);
    __builtin_memcpy(to + i, &floats, sizeof floats);
  }
#endif
  for (; i < count; ++i) to[i] = widen(half{from[i]});
}
HD_OF_THIS_FILE void narrow_all(unsigned short* __restrict__ to, const float* __restrict__ from,
                                long long count) {
  long long i = 0;
#ifdef HD_HALVES_AT_ONCE
  constexpr int to_nearest_even = 0;
  for (; i + 8 <= count; i += 8) {
    EightFloats floats;
    __builtin_memcpy(&floats, from + i, sizeof floats);
    const EightHalves halves = __builtin_ia32_vcvtps2ph256(floats, to_nearest_even);
    __builtin_memcpy(to + i, &halves, sizeof halves);
  }
#endif
  for (; i < count; ++i) to[i] = half::from(from[i]).bits;
}
}  // namespace heddle_scalar
