#pragma once
//! section fmod needs math
//! defines fmod
HD_PLAIN_MATH_2(fmod)
HD_MATH_2(fmod_float, fmod)
namespace heddle_scalar {
// The remainder with the sign of the dividend. Integers modulo 0 give 0.
template <class T>
HD_SCALAR T fmod(T a, T b) {
  if constexpr (!is_integer<T>) {
    return fmod_float(a, b);
  } else if constexpr (is_signed<T>) {
    return b == 0 || b == -1 ? static_cast<T>(0) : static_cast<T>(a % b);
  } else {
    return b == 0 ? static_cast<T>(0) : static_cast<T>(a % b);
  }
}
}  // namespace heddle_scalar

//! section floor_divide needs fmod rounding copysign
//! defines floor_divide remainder
namespace heddle_scalar {
// NumPy's npy_divmod: the quotient is rounded towards minus infinity, and the remainder has the
// sign of the divisor. Integer division by 0 gives 0 and remainder 0. The smallest integer divided
// by -1 wraps.
template <class X>
HD_SCALAR X floor_divide_float(X a, X b) {
  const X modulus = fmod(a, b);
  const bool opposite = (modulus != 0) & ((b < 0) != (modulus < 0));
  const X exact = (a - modulus) / b;
  const X quotient = opposite ? exact - 1 : exact;
  const X below = floor(quotient);
  const X nearest = quotient - below > static_cast<X>(0.5) ? below + 1 : below;
  const X result = quotient == 0 ? copysign(static_cast<X>(0), a / b) : nearest;
  return b == 0 ? a / b : result;
}
template <class X>
HD_SCALAR X remainder_float(X a, X b) {
  const X modulus = fmod(a, b);
  const bool opposite = (modulus != 0) & ((b < 0) != (modulus < 0));
  const X shifted = opposite ? modulus + b : modulus;
  return modulus == 0 ? copysign(static_cast<X>(0), b) : shifted;
}
template <class T>
HD_SCALAR T floor_divide(T a, T b) {
  if constexpr (!is_integer<T>) {
    return narrow<T>(floor_divide_float(widen(a), widen(b)));
  } else if constexpr (is_signed<T>) {
    if (b > 0) {
      // Rounding down a negative number is rounding ~a, which is not negative, towards 0. Dividing
      // by a constant takes fewer instructions so.
      const auto signs = ring(static_cast<T>(a < 0 ? -1 : 0));
      return narrow<T>(((ring(a) ^ signs) / ring(b)) ^ signs);
    }
    if (b == 0) return 0;
    if (b == -1) return narrow<T>(-ring(a));
    const bool inexact_negative = (a % b != 0) & ((a < 0) != (b < 0));
    return static_cast<T>(a / b - (inexact_negative ? 1 : 0));
  } else {
    return b == 0 ? static_cast<T>(0) : static_cast<T>(a / b);
  }
}
template <class T>
HD_SCALAR T remainder(T a, T b) {
  if constexpr (!is_integer<T>) {
    return narrow<T>(remainder_float(widen(a), widen(b)));
  } else {
    const T modulus = fmod(a, b);
    if constexpr (is_signed<T>) {
      const bool opposite = (modulus != 0) & ((modulus < 0) != (b < 0));
      return static_cast<T>(opposite ? modulus + b : modulus);
    } else {
      return modulus;
    }
  }
}
}  // namespace heddle_scalar

//! section gcd needs core
//! defines gcd lcm
namespace heddle_scalar {
template <class T>
HD_SCALAR auto magnitude(T x) {
  if constexpr (is_signed<T>) {
    return x < 0 ? -ring(x) : ring(x);
  } else {
    return ring(x);
  }
}
template <class T>
HD_SCALAR T gcd(T a, T b) {
  auto x = magnitude(a);
  auto y = magnitude(b);
  while (x != 0) {
    const auto rest = y % x;
    y = x;
    x = rest;
  }
  return narrow<T>(y);
}
template <class T>
HD_SCALAR T lcm(T a, T b) {
  const auto divisor = magnitude(gcd(a, b));
  return divisor == 0 ? static_cast<T>(0) : narrow<T>(magnitude(a) / divisor * magnitude(b));
}
}  // namespace heddle_scalar
