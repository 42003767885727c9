#pragma once
//! section complex_sinh needs complex exp sin cos sinh cosh copysign
//! defines_complex sinh cosh sin cos
namespace heddle_scalar {
// For arguments whose hyperbolic functions overflow: e^|x| / 2 times `factor`, a sine or cosine.
template <class T>
HD_SCALAR T scaled_by_power(T x, T factor) {
  const T root = exp((x < 0 ? -x : x) * static_cast<T>(0.5));
  return factor * root * (root * static_cast<T>(0.5));
}
template <class T>
HD_SCALAR complex<T> sinh(complex<T> z) {
  const T x = z.re;
  const T y = z.im;
  if (y == 0) return {sinh(x), y};
  if (y - y != 0 && x == 0) return {x, y - y};
  if (y - y != 0 && x - x != 0 && x == x) return {x * x, y - y};
  const T s = sinh(x);
  if (s - s != 0 && x - x == 0) {
    return {copysign(static_cast<T>(1), x) * scaled_by_power(x, cos(y)),
            scaled_by_power(x, sin(y))};
  }
  return {s * cos(y), cosh(x) * sin(y)};
}
template <class T>
HD_SCALAR complex<T> cosh(complex<T> z) {
  const T x = z.re;
  const T y = z.im;
  if (y == 0) return {cosh(x), copysign(static_cast<T>(1), x) * y};
  if (y - y != 0 && x == 0) return {y - y, x};
  if (y - y != 0 && x - x != 0 && x == x) return {x * x, y - y};
  const T s = sinh(x);
  if (s - s != 0 && x - x == 0) {
    return {scaled_by_power(x, cos(y)),
            copysign(static_cast<T>(1), x) * scaled_by_power(x, sin(y))};
  }
  return {cosh(x) * cos(y), s * sin(y)};
}
// sin(z) = -i sinh(iz), and sinh is odd; cos(z) = cosh(iz).
template <class T>
HD_SCALAR complex<T> sin(complex<T> z) {
  const complex<T> turned = sinh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}
template <class T>
HD_SCALAR complex<T> cos(complex<T> z) {
  return cosh(complex<T>(-z.im, z.re));
}
}  // namespace heddle_scalar

//! section complex_tanh needs complex exp sin cos sinh cosh tanh copysign
//! defines_complex tanh tan
namespace heddle_scalar {
// (sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)^2 + cos(y)^2), which has no cancellation.
template <class T>
HD_SCALAR complex<T> tanh(complex<T> z) {
  const T x = z.re;
  const T y = z.im;
  if (y == 0) return {tanh(x), y};
  if (x - x != 0 && x == x) {
    const T sine = y - y == 0 ? sin(y) * cos(y) : y;
    return {copysign(static_cast<T>(1), x), copysign(static_cast<T>(0), sine)};
  }
  if (y - y != 0 && x == 0) return {x, y - y};
  const T turn = sin(y) * cos(y);
  const T size = x < 0 ? -x : x;
  if (size > 20 && y - y == 0) return {copysign(static_cast<T>(1), x), 4 * turn * exp(-2 * size)};
  const T s = sinh(x);
  const T c = cos(y);
  const T divisor = s * s + c * c;
  return {s * cosh(x) / divisor, turn / divisor};
}
// tan(z) = -i tanh(iz), and tanh is odd.
template <class T>
HD_SCALAR complex<T> tan(complex<T> z) {
  const complex<T> turned = tanh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}
}  // namespace heddle_scalar

//! section complex_arcsinh needs complex_sqrt complex_log arcsinh absolute
//! defines_complex arcsinh arcsin arccosh arccos
namespace heddle_scalar {
// Kahan's formulas, with square roots whose products do not cancel. Beyond `far`, 1 is negligible
// compared with z, and the value is log(2 |z|).
template <class T>
inline constexpr T far = is_same<T, float> ? static_cast<T>(0x1p26) : static_cast<T>(0x1p56);
template <class T>
HD_SCALAR bool is_far(complex<T> z) {
  return (z.re > far<T>) | (z.re < -far<T>) | (z.im > far<T>) | (z.im < -far<T>);
}
template <class T>
HD_SCALAR T far_logarithm(complex<T> z) {
  return log_magnitude(z.re, z.im) + static_cast<T>(0.693147180559945309417);
}
template <class T>
HD_SCALAR complex<T> arcsinh(complex<T> z) {
  const T width = z.re < 0 ? -z.re : z.re;
  if (is_far(z)) return {copysign(far_logarithm(z), z.re), arctan2(z.im, width)};
  if (z.re != z.re && z.im == 0) return z;
  const complex<T> a = sqrt(complex<T>(1 + z.im, -z.re));
  const complex<T> b = sqrt(complex<T>(1 - z.im, z.re));
  return {arcsinh(a.re * b.im - b.re * a.im), arctan2(z.im, a.re * b.re - a.im * b.im)};
}
// arcsin(z) = -i arcsinh(iz), and arcsinh is odd.
template <class T>
HD_SCALAR complex<T> arcsin(complex<T> z) {
  const complex<T> turned = arcsinh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}
template <class T>
HD_SCALAR complex<T> arccos(complex<T> z) {
  if (is_far(z)) return {arctan2(fabs(z.im), z.re), -copysign(far_logarithm(z), z.im)};
  if (z.re == 0 && z.im != z.im) return {static_cast<T>(1.57079632679489661923), z.im};
  const complex<T> a = sqrt(complex<T>(1 - z.re, -z.im));
  const complex<T> b = sqrt(complex<T>(1 + z.re, z.im));
  return {2 * arctan2(a.re, b.re), arcsinh(b.re * a.im - b.im * a.re)};
}
template <class T>
HD_SCALAR complex<T> arccosh(complex<T> z) {
  if (is_far(z)) return {far_logarithm(z), arctan2(z.im, z.re)};
  if (z.re == 0 && z.im != z.im) return {z.im, static_cast<T>(1.57079632679489661923)};
  const complex<T> a = sqrt(complex<T>(z.re - 1, z.im));
  const complex<T> b = sqrt(complex<T>(z.re + 1, z.im));
  return {arcsinh(a.re * b.re + a.im * b.im), 2 * arctan2(a.im, b.re)};
}
}  // namespace heddle_scalar

//! section complex_arctanh needs complex_reciprocal log log1p hypot arctan2 copysign
//! defines_complex arctanh arctan
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> arctanh(complex<T> z) {
  constexpr T far = is_same<T, float> ? static_cast<T>(0x1p26) : static_cast<T>(0x1p56);
  constexpr T smallest = is_same<T, float> ? static_cast<T>(0x1p-100) : static_cast<T>(0x1p-960);
  constexpr T quarter_turn = static_cast<T>(1.57079632679489661923);
  const T x = z.re < 0 ? -z.re : z.re;
  const T y = z.im;
  const bool re_infinite = (x == x) & (x - x != 0);
  const bool im_infinite = (y == y) & (y - y != 0);
  if (re_infinite | im_infinite) {
    return {copysign(static_cast<T>(0), z.re), y == y ? copysign(quarter_turn, y) : y};
  }
  if (y != y && x == 0) return z;
  if ((y == y) & ((x > far) | (y > far) | (y < -far)) & (x == x)) {
    return {reciprocal(z).re, copysign(quarter_turn, y)};
  }
  const T distance = 1 - x;
  const T squares = distance * distance + y * y;
  // If z is so close to 1 that the squares underflow, 1 is negligible compared with the quotient,
  // so log replaces log1p.
  const T real = squares < smallest ? static_cast<T>(0.25) * log(4 * x) -
                                          static_cast<T>(0.5) * log(hypot(distance, y))
                                    : static_cast<T>(0.25) * log1p(4 * x / squares);
  return {copysign(real, z.re), static_cast<T>(0.5) * arctan2(2 * y, distance * (1 + x) - y * y)};
}
// arctan(z) = -i arctanh(iz), and arctanh is odd.
template <class T>
HD_SCALAR complex<T> arctan(complex<T> z) {
  const complex<T> turned = arctanh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}
}  // namespace heddle_scalar
