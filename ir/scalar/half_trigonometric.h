#pragma once
//! section half_circular needs half_math
namespace heddle_scalar {
// x - n pi, for n of at most 16 bits. The first parts of pi have 8 bits. So all products except the
// last, and the differences, are exact with and without contraction.
HD_SCALAR float half_less_turns(float x, float n) {
  const float coarse = (x - n * 0x1.92p+1f) - n * 0x1.fap-11f;
  return (coarse - n * 0x1.54p-19f) - n * 0x1.10b462p-29f;
}
// [-pi / 2, pi / 2], exactly 1 at 0.
HD_SCALAR float half_sine(float x) {
  const float z = x * x;
  const float p = (2.60539969e-06f * z - 0.000198094393f) * z + 0.00833306462f;
  return ((p * z - 0.166666597f) * z + 1) * x;
}
// Negates x if the integer that was added to half_shift is odd.
HD_SCALAR float half_alternate(float x, float shifted) {
  return float_of(bits_of(x) ^ (bits_of(shifted) << 31));
}
}  // namespace heddle_scalar

//! section half_sin needs half_circular sin
//! defines_half sin
namespace heddle_scalar {
HD_SCALAR float half_sin(float x) {
  const float shifted = x * 0.318309886f + half_shift;
  return half_alternate(half_sine(half_less_turns(x, shifted - half_shift)), shifted);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(sin, half_sin)

//! section half_cos needs half_circular cos
//! defines_half cos
namespace heddle_scalar {
// cos(x) is sin(x + pi / 2).
HD_SCALAR float half_cos(float x) {
  const float shifted = (x * 0.318309886f + 0.5f) + half_shift;
  const float turns = (shifted - half_shift) - 0.5f;
  return half_alternate(half_sine(half_less_turns(x, turns)), shifted);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(cos, half_cos)

//! section half_tan needs half_circular half_quotient tan
//! defines_half tan
namespace heddle_scalar {
HD_SCALAR float half_tan(float x) {
  const float shifted = x * 0.636619772f + half_shift;
  const float r = half_less_turns(x, (shifted - half_shift) * 0.5f);
  const float z = r * r;
  // [0, pi / 4], exactly 1 at 0.
  const float sine = (-0.0957829133f * z + 1) * r;
  const float cosine = (0.00971005205f * z - 0.429116756f) * z + 1;
  const bool odd = (bits_of(shifted) & 1u) != 0;
  return half_alternate(half_quotient(odd ? cosine : sine, odd ? sine : cosine), shifted);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(tan, half_tan)

//! section half_arcsin needs half_quotient arcsin
//! defines_half arcsin
namespace heddle_scalar {
// For large |x|: arcsin(x) = pi / 2 - 2 arcsin(sqrt((1 - x) / 2)).
HD_SCALAR float half_arcsin(float x) {
  const float size = half_magnitude(x);
  const bool large = size > 0.5f;
  const float folded = 0.5f - 0.5f * size;
  const float z = large ? folded : size * size;
  const float sine = large ? half_root(folded) : size;
  // [0, 1/2], exactly 1 at 0.
  const float p = (0.0499531254f * z + 0.0400349796f) * z + 0.0754053146f;
  const float angle = ((p * z + 0.166655794f) * z + 1) * sine;
  return half_with_sign(large ? 1.57079633f - 2 * angle : angle, x);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(arcsin, half_arcsin)

//! section half_arccos needs half_quotient arccos
//! defines_half arccos
namespace heddle_scalar {
HD_SCALAR float half_arccos(float x) {
  const float size = half_magnitude(x);
  // arccos(x) / sqrt(1 - x) on [0, 1], exact at 0.
  const float p = (-0.00444137631f * size + 0.0196373798f) * size - 0.0452490151f;
  const float q = ((p * size + 0.0880043358f) * size - 0.214535296f) * size + 1.57079633f;
  const float angle = q * half_root(1 - size);
  return x < 0 ? 3.14159265f - angle : angle;
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(arccos, half_arccos)

//! section half_arctan needs half_quotient arctan
//! defines_half arctan
namespace heddle_scalar {
HD_SCALAR float half_arctan(float x) {
  const float size = half_magnitude(x);
  const bool large = size > 1;
  const float inverse = half_quotient(1.0f, size);
  const float t = large ? inverse : size;
  const float z = t * t;
  // [0, 1], exactly 1 at 0.
  const float p = ((0.00810636953f * z - 0.0377967246f) * z + 0.0848410428f) * z - 0.135445759f;
  const float angle = (((p * z + 0.198978737f) * z - 0.333284914f) * z + 1) * t;
  return half_with_sign(large ? 1.57079633f - angle : angle, x);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(arctan, half_arctan)

//! section half_cbrt needs half_math cbrt
//! defines_half cbrt
namespace heddle_scalar {
HD_SCALAR float half_cbrt(float x) {
  const float size = half_magnitude(x);
  // A third of the bits gives the inverse cube root y to within 3%. With e = 1 - x y^3, the cube
  // root is x y^2 (1 - e)^(-2/3).
  const float third = static_cast<float>(static_cast<int>(bits_of(size))) * 0.333333333f;
  const float y = float_of(static_cast<unsigned int>(static_cast<int>(1419899968.0f - third)));
  const float first = size * y * y;
  const float e = 1 - first * y;
  // [-0.103, 0.103], exactly 1 at 0. Of such polynomials, one for which the cube roots of all
  // halves round to the nearest half.
  const float p = ((0.461040288f * e + 0.499156892f) * e + 0.555540919f) * e;
  return half_with_sign(((p + 0.666652024f) * e + 1) * first, x);
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(cbrt, half_cbrt)

//! section half_erf needs half_math erf
//! defines_half erf
namespace heddle_scalar {
HD_SCALAR float half_erf(float value) {
  // Beyond this value, the result rounds to 1.
  const float x = half_clamp(value, 2.62f, -2.62f);
  // Centred at the middle of the range of x^2. Around 0, the terms of the polynomial would cancel.
  const float z = x * x - 3.4322f;
  // [0, 2.62], exact at 0.
  const float a = ((-9.33508737e-09f * z + 1.03655957e-07f) * z - 7.65736672e-07f) * z;
  const float b = ((a + 6.53901634e-06f) * z - 5.30375619e-05f) * z + 0.000371965143f;
  const float c = ((b * z - 0.00232329918f) * z + 0.0132136093f) * z - 0.0726304799f;
  return (c * z + 0.535030246f) * x;
}
}  // namespace heddle_scalar
HD_HALF_MATH_1(erf, half_erf)
