#pragma once
//! section complex_exp needs complex exp sin cos
//! defines_complex exp
namespace heddle_scalar {
// size * (cos(angle) + i sin(angle)), where size is e^power. An angle of 0 stays 0, and is not used
// if the power is infinite.
template <class T>
HD_SCALAR complex<T> polar(T power, T size, T angle) {
  if (angle == 0) return {size, angle};
  const bool angle_is_number = angle - angle == 0;
  if (!angle_is_number && power - power != 0 && power == power) {
    return {size, power < 0 ? size : size - size};
  }
  const T x = cos(angle);
  const T y = sin(angle);
  if (size - size != 0 && power - power == 0) {
    const T root = exp(power * static_cast<T>(0.5));
    return {x * root * root, y * root * root};
  }
  return {size * x, size * y};
}
template <class T>
HD_SCALAR complex<T> exp(complex<T> z) {
  return polar(z.re, exp(z.re), z.im);
}
}  // namespace heddle_scalar

//! section complex_exp2 needs complex_exp exp2
//! defines_complex exp2
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> exp2(complex<T> z) {
  constexpr T ln_2 = static_cast<T>(0.693147180559945309417);
  return polar(z.re * ln_2, exp2(z.re), z.im * ln_2);
}
}  // namespace heddle_scalar

//! section complex_expm1 needs complex exp expm1 sin cos
//! defines_complex expm1
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> expm1(complex<T> z) {
  const T half_sine = sin(z.im * static_cast<T>(0.5));
  return {expm1(z.re) * cos(z.im) - 2 * half_sine * half_sine, exp(z.re) * sin(z.im)};
}
}  // namespace heddle_scalar

//! section complex_sqrt needs complex sqrt hypot copysign limits
//! defines_complex sqrt
namespace heddle_scalar {
// Scaled by an even power of 2 if the sum of squares would leave the range.
template <class T>
HD_SCALAR complex<T> sqrt(complex<T> z) {
  constexpr bool is_single = is_same<T, float>;
  constexpr T largest = is_single ? static_cast<T>(0x1p125) : static_cast<T>(0x1p1021);
  constexpr T smallest = is_single ? static_cast<T>(0x1p-100) : static_cast<T>(0x1p-960);
  const T height = z.im < 0 ? -z.im : z.im;
  if (height == greatest<T>()) return {height, z.im};
  if (z.re == 0 && z.im == 0) return {static_cast<T>(0), z.im};
  if (z.re == greatest<T>()) {
    return {z.re, height == height ? copysign(static_cast<T>(0), z.im) : z.im};
  }
  if (z.re == -greatest<T>()) {
    return {height == height ? static_cast<T>(0) : z.im, copysign(-z.re, z.im)};
  }
  const T width = z.re < 0 ? -z.re : z.re;
  const T longer = width > height ? width : height;
  const T scale = longer >= largest    ? static_cast<T>(0x1p-2)
                  : longer <= smallest ? static_cast<T>(0x1p60)
                                       : static_cast<T>(1);
  const T back = longer >= largest    ? static_cast<T>(0x1p1)
                 : longer <= smallest ? static_cast<T>(0x1p-30)
                                      : static_cast<T>(1);
  const T x = width * scale;
  const T y = height * scale;
  const T root = sqrt((x + hypot(x, y)) * static_cast<T>(0.5));
  const T large = root * back;
  const T small = y / (2 * root) * back;
  if (z.re < 0) return {small, copysign(large, z.im)};
  return {large, copysign(small, z.im)};
}
}  // namespace heddle_scalar

//! section complex_log needs complex log log1p hypot arctan2
//! defines_complex log
namespace heddle_scalar {
// log(|x + iy|), accurate also if the result is near 0.
template <class T>
HD_SCALAR T log_magnitude(T x, T y) {
  constexpr bool is_single = is_same<T, float>;
  constexpr T largest = is_single ? static_cast<T>(0x1p125) : static_cast<T>(0x1p1021);
  constexpr T smallest = is_single ? static_cast<T>(0x1p-100) : static_cast<T>(0x1p-960);
  constexpr T ln_2 = static_cast<T>(0.693147180559945309417);
  const T width = x < 0 ? -x : x;
  const T height = y < 0 ? -y : y;
  const T longer = width > height ? width : height;
  const T shorter = width > height ? height : width;
  if (longer > static_cast<T>(0.5) && longer < 2 && shorter < static_cast<T>(1.5)) {
    return static_cast<T>(0.5) * log1p((longer - 1) * (longer + 1) + shorter * shorter);
  }
  if (longer >= largest && longer - longer == 0) {
    return log(hypot(x * static_cast<T>(0.25), y * static_cast<T>(0.25))) + 2 * ln_2;
  }
  if (longer <= smallest && longer > 0) {
    return log(hypot(x * static_cast<T>(0x1p60), y * static_cast<T>(0x1p60))) - 60 * ln_2;
  }
  return log(hypot(x, y));
}
template <class T>
HD_SCALAR complex<T> log(complex<T> z) {
  return {log_magnitude(z.re, z.im), arctan2(z.im, z.re)};
}
}  // namespace heddle_scalar

//! section complex_log2 needs complex_log
//! defines_complex log2
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> log2(complex<T> z) {
  constexpr T log2_e = static_cast<T>(1.44269504088896340736);
  const complex<T> natural = log(z);
  return {natural.re * log2_e, natural.im * log2_e};
}
}  // namespace heddle_scalar

//! section complex_log10 needs complex_log
//! defines_complex log10
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> log10(complex<T> z) {
  constexpr T log10_e = static_cast<T>(0.434294481903251827651);
  const complex<T> natural = log(z);
  return {natural.re * log10_e, natural.im * log10_e};
}
}  // namespace heddle_scalar

//! section complex_log1p needs complex_log
//! defines_complex log1p
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> log1p(complex<T> z) {
  const T width = z.re < 0 ? -z.re : z.re;
  const T height = z.im < 0 ? -z.im : z.im;
  const bool small = (width < static_cast<T>(0.5)) & (height < static_cast<T>(0.5));
  const T size = small ? static_cast<T>(0.5) * log1p(z.re * (2 + z.re) + z.im * z.im)
                       : log_magnitude(1 + z.re, z.im);
  return {size, arctan2(z.im, 1 + z.re)};
}
}  // namespace heddle_scalar

//! section complex_power needs complex_log complex_exp power limits
//! defines_complex power
namespace heddle_scalar {
// By repeated squaring for whole exponents below 100, as in NumPy.
template <class T>
HD_SCALAR complex<T> power_whole(complex<T> base, int exponent) {
  if (exponent == 3) return base * (base * base);
  complex<T> result(1);
  complex<T> factor = base;
  bool first = true;
  for (int rest = exponent < 0 ? -exponent : exponent; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      result = first ? factor : result * factor;
      first = false;
    }
    if (rest > 1) factor = factor * factor;
  }
  return exponent < 0 ? complex<T>(1) / result : result;
}
template <class T>
HD_SCALAR complex<T> power(complex<T> base, complex<T> exponent) {
  if (exponent.re == 0 && exponent.im == 0) return complex<T>(1);
  if (base.re == 0 && base.im == 0) {
    const T part = exponent.re > 0 ? static_cast<T>(0) : greatest<T>() - greatest<T>();
    return {part, part};
  }
  const bool is_small = (exponent.re > -100) & (exponent.re < 100) & (exponent.im == 0);
  const int whole = is_small ? static_cast<int>(exponent.re) : 0;
  if (is_small && static_cast<T>(whole) == exponent.re) return power_whole(base, whole);
  const complex<T> log_base = log(base);
  const complex<T> product = exponent * log_base;
  const T sum = base.re + base.im + exponent.re + exponent.im;
  if (sum - sum != 0) return exp(product);
  // More accurate than e^(y log x), whose error grows with the magnitude of the logarithm.
  const T size = power_float(hypot(base.re, base.im), exponent.re);
  return polar(product.re, size * exp(-exponent.im * log_base.im), product.im);
}
}  // namespace heddle_scalar
