#pragma once
//! section double_circular needs vector_math double_math
//! host
// HD_CIRCULAR(name, symbol) defines `name` for double. Angles up to 2^20 are reduced modulo pi / 2
// inline. For larger ones, `symbol` is called; it returns at once if there are none, and calls the
// C library for each of them. Without fused multiply-add, all angles are handled as large.
#ifndef __CUDACC__
#ifdef HD_HAS_VECTOR_MATH
extern "C" void hd_sincos(double, double*, double*) noexcept asm("sincos");
extern "C" double tan(double) noexcept;
namespace heddle_scalar {
struct SineCosine {
  double sine, cosine;
};
// Computes both: for one alone, a compiler would call sin or cos, which are hidden here.
HD_SCALAR SineCosine sine_and_cosine(double x) {
  SineCosine result;
  hd_sincos(x, &result.sine, &result.cosine);
  asm("" : "+x"(result.sine), "+x"(result.cosine));
  return result;
}
HD_SCALAR double large_sin(double x) { return sine_and_cosine(x).sine; }
HD_SCALAR double large_cos(double x) { return sine_and_cosine(x).cosine; }
HD_SCALAR double large_hd_tan(double x) { return ::tan(x); }
// Negative for large angles, infinities and NaN.
HD_SCALAR long long room_of([[maybe_unused]] double x) {
#ifdef __FMA__
  return static_cast<long long>(bits_of(0x1p20) - (bits_of(x) & 0x7fffffffffffffffull));
#else
  return -1;
#endif
}
template <class V, class Function>
HD_SCALAR V large_angles(V x, Function function) {
  double angles[sizeof(V) / sizeof(double)];
  __builtin_memcpy(angles, &x, sizeof x);
  long long room = 0;
  for (const double angle : angles) room |= room_of(angle);
  if (__builtin_expect(room < 0, 0)) {
    for (double& angle : angles) angle = room_of(angle) < 0 ? function(angle) : angle;
    __builtin_memcpy(&x, angles, sizeof x);
  }
  return x;
}
// The result of reducing an angle by `count` quarter turns: rest + tail.
struct Quarters {
  unsigned long long count;
  double rest, tail;
};
HD_SCALAR Quarters quarters_of(double x) {
  const double shifted = fused(x, 0x1.45f306dc9c883p-1, double_shift);
  const double n = shifted - double_shift;
  // The first two parts of pi / 2 are chosen such that all steps except the last ones are exact.
  const double coarse = fused(-n, 1.5707963267948966, x);
  const double fine = fused(-n, 0x1.1a626331p-54, coarse);
  const double lost = fused(-n, 0x1.1a626331p-54, coarse - fine);
  const double low = fused(-n, 0x1.1701b839a2520p-88, lost);
  const double rest = fine + low;
  return {bits_of(shifted), rest, (fine - rest) + low};
}
// sin(r) - r, and cos(r) - 1.
HD_SCALAR SineCosine circular_past(double r, double tail) {
  const double z = r * r;
  // [0, (pi / 4)^2].
  double s = fused(1.5896983793289527e-10, z, -2.5050761734281953e-08);
  s = fused(s, z, 2.7557313718226538e-06);
  s = fused(s, z, -0.0001984126982989671);
  s = fused(s, z, 0.00833333333332255);
  s = fused(s, z, -0.16666666666666632);
  double c = fused(-1.1361200585248662e-11, z, 2.0875755910468715e-09);
  c = fused(c, z, -2.755731461696116e-07);
  c = fused(c, z, 2.4801587290508893e-05);
  c = fused(c, z, -0.001388888888887601);
  c = fused(c, z, 0.041666666666666616);
  c = fused(c, z, -0.5);
  return {fused(z * s, r, tail), fused(c, z, -r * tail)};
}
HD_SCALAR double sine_after(double x, unsigned long long quarters) {
  const Quarters q = quarters_of(x);
  const SineCosine past = circular_past(q.rest, q.tail);
  const unsigned long long count = q.count + quarters;
  const double result = (count & 1) != 0 ? 1 + past.cosine : q.rest + past.sine;
  return float_of(bits_of(result) ^ ((count & 2) << 62));
}
// For -0, sine_after() would return +0.
HD_SCALAR double small_sin(double x) { return x == 0 ? x : sine_after(x, 0); }
HD_SCALAR double small_cos(double x) { return sine_after(x, 1); }
HD_SCALAR double small_tan(double x) {
  const Quarters q = quarters_of(x);
  const SineCosine past = circular_past(q.rest, q.tail);
  const double sine = q.rest + past.sine, sine_rest = (q.rest - sine) + past.sine;
  const double cosine = 1 + past.cosine, cosine_rest = (1 - cosine) + past.cosine;
  const bool odd = (q.count & 1) != 0;
  const double top = odd ? -cosine : sine, top_rest = odd ? -cosine_rest : sine_rest;
  const double bottom = odd ? sine : cosine, bottom_rest = odd ? sine_rest : cosine_rest;
  const double inverse = 1 / bottom, ratio = top * inverse;
  const double error = fused(-ratio, bottom, top) + fused(-ratio, bottom_rest, top_rest);
  return x == 0 ? x : fused(error, inverse, ratio);
}
}  // namespace heddle_scalar
#define HD_LARGE_ANGLES(symbol, X, id, label)                                   \
  extern "C" HD_HIDING X id(X) noexcept asm(label);                             \
  X id(X x) noexcept {                                                          \
    return large_angles(x, [](double angle) { return large_##symbol(angle); }); \
  }
#define HD_LARGE_ANGLES_OF_LANES(symbol, T, bytes, label) \
  typedef Lanes<T, bytes> hd_##symbol##_##bytes##_lanes;  \
  HD_LARGE_ANGLES(symbol, hd_##symbol##_##bytes##_lanes, hd_##symbol##_##bytes, label)
#define HD_CIRCULAR(name, symbol)                                                             \
  namespace heddle_scalar {                                                                   \
  HD_WIDEST(HD_LARGE_ANGLES_OF_LANES, "v", symbol, double)                                    \
  HD_NARROWER(HD_LARGE_ANGLES_OF_LANES, "v", symbol, double)                                  \
  HD_LARGE_ANGLES(symbol, double, hd_##symbol##_alone, #symbol)                               \
  extern "C" HD_SIMD double hd_##symbol(double) noexcept asm(#symbol);                        \
  HD_SCALAR double name(double x) {                                                           \
    const unsigned long long large = 0 - (static_cast<unsigned long long>(room_of(x)) >> 63); \
    const double of_large = hd_##symbol(not_folded(x));                                       \
    return float_of((bits_of(of_large) & large) | (bits_of(small_##name(x)) & ~large));       \
  }                                                                                           \
  }
#else
#define HD_CIRCULAR(name, symbol) HD_VECTOR_NUMBERS_1(name, name, double)
#endif
#endif

//! section double_arcsin needs double_math sqrt
namespace heddle_scalar {
// For |x| > 1/2, arcsin(x) = pi / 2 - 2 arcsin(sqrt((1 - x) / 2)).
HD_SCALAR double double_arcsin(double value) {
  const double size = size_of(value);
  const bool large = size > 0.5;
  const double folded = 0.5 - 0.5 * size;
  const double z = large ? folded : size * size;
  // [0, 1/4].
  double p = fused(0.0326302817319047, z, -0.020999187420773707);
  p = fused(p, z, 0.021705410890288046);
  p = fused(p, z, 0.0037082957486981264);
  p = fused(p, z, 0.010779414708479653);
  p = fused(p, z, 0.011399136362606328);
  p = fused(p, z, 0.013980781686134144);
  p = fused(p, z, 0.01735161648526253);
  p = fused(p, z, 0.022372214648139523);
  p = fused(p, z, 0.03038194272425024);
  p = fused(p, z, 0.04464285717413524);
  p = fused(p, z, 0.0749999999997152);
  p = fused(p, z, 0.16666666666666757);
  const double small = fused(size, z * p, size);
  // The root is head + tail; the square of head is exact.
  const double root = sqrt(folded);
  const double head = float_of(bits_of(root) & 0xffffffff00000000ull);
  const double tail = (folded - head * head) / (root + head);
  const double past = fused(root, z * p, tail);
  const double angle = (1.5707963267948966 - 2 * head) - (2 * past - 6.123233995736766e-17);
  const double result = size == 1 ? 1.5707963267948966 : angle;
  return with_sign(large ? result : small, value);
}
}  // namespace heddle_scalar

//! section double_logarithm needs double_math
// The functions of CUDA and of libmvec have errors of 2 units in the last place.
namespace heddle_scalar {
// A number and the error of its rounding.
struct DoubleSum {
  double head, tail;
};
HD_SCALAR DoubleSum exact_sum(double a, double b) {
  const double sum = a + b, second = sum - a;
  return {sum, (a - (sum - second)) + (b - second)};
}
// log(2^doublings (1 + x)), for a sum x that is not negative.
HD_SCALAR double double_log_after_1(DoubleSum x, double doublings) {
  const DoubleSum u = exact_sum(1, x.head);
  // u.head is 2^n (1 + f), with f in [sqrt(1/2) - 1, sqrt(2) - 1].
  const unsigned long long steps = (bits_of(u.head) - 0x3fe6a09e00000000ull) >> 52;
  const double n = float_of(steps + bits_of(double_shift)) - double_shift;
  const double f = float_of(bits_of(u.head) - (steps << 52)) - 1;
  const double scale = steps > 1000 ? 0 : float_of(0x3ff0000000000000ull - (steps << 52));
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  // (log(1 + f) - 2 s) / s, for z in [0, 0.0295].
  double p = fused(0.14786485207749198, z, 0.15315065979218298);
  p = fused(p, z, 0.18183521235187594);
  p = fused(p, z, 0.22222199487513306);
  p = fused(p, z, 0.28571428732337023);
  p = fused(p, z, 0.39999999999467506);
  p = fused(p, z, 0.6666666666666724);
  // The derivative 1 / (1 + f), to a few digits.
  const double past = (u.tail + x.tail) * scale * fused(2 * s, s - 1, 1);
  const double whole = n + doublings;
  const double low = fused(whole, 0x1.a39ef35793c76p-33, past);
  const double near = f - (half - fused(s, fused(z, p, half), low));
  return fused(whole, 0x1.62e42feep-1, near);
}
}  // namespace heddle_scalar

//! section double_arcsinh needs double_logarithm sqrt
namespace heddle_scalar {
HD_SCALAR double double_arcsinh(double value) {
  const double size = size_of(value);
  // For large x, 2 x is close enough to x + sqrt(x^2 + 1).
  const bool large = size > 0x1p28;
  const double x = large ? 1 : size;
  const double square = x * x;
  const DoubleSum small = exact_sum(x, square / (1 + sqrt(square + 1)));
  const DoubleSum past{large ? size - 1 : small.head, large ? 0 : small.tail};
  const double result = double_log_after_1(past, large ? 1 : 0);
  return with_sign(size - size == 0 ? result : size, value);
}
}  // namespace heddle_scalar

//! section double_arccosh needs double_logarithm sqrt
namespace heddle_scalar {
HD_SCALAR double double_arccosh(double value) {
  const bool large = value > 0x1p28;
  const double d = large ? 1 : value - 1;
  // sqrt(d (d + 2)), with its rounding errors, which matter if d is small.
  const double sum = d + 2, sum_rest = d - (sum - 2);
  const double product = d * sum;
  const double root = sqrt(product);
  const double rest = difference(product, root, root) - difference(product, d, sum) + d * sum_rest;
  const DoubleSum small = exact_sum(d, root);
  // At 1, the root is 0; the small constant avoids a division by 0.
  const double tail = small.tail + 0.5 * rest / (root + 0x1p-1000);
  const DoubleSum past{large ? value - 1 : small.head, large ? 0 : tail};
  const double result = double_log_after_1(past, large ? 1 : 0);
  const double beyond = value > 1 ? value : float_of(0x7ff8000000000000ull);
  return (value >= 1) & (value - value == 0) ? result : beyond;
}
}  // namespace heddle_scalar

//! section double_arctanh needs double_logarithm
namespace heddle_scalar {
// log(1 + 2 x / (1 - x)) / 2.
HD_SCALAR double double_arctanh(double value) {
  const double size = size_of(value);
  const double below = 1 - size, below_rest = (1 - below) - size;
  const double ratio = 2 * size / below;
  const double rest = (difference(2 * size, ratio, below) - ratio * below_rest) / below;
  const double result = 0.5 * double_log_after_1({ratio, rest}, 0);
  const double beyond = size == 1 ? ratio : float_of(0x7ff8000000000000ull);
  return with_sign(size < 1 ? result : beyond, value);
}
}  // namespace heddle_scalar
