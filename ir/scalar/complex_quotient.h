#pragma once
//! section complex_quotient needs complex
namespace heddle_scalar {
// a / b, also where the reciprocal or the square of b is out of range, or b is subnormal: both are
// first scaled by a power of two, which is 1 for all other numbers. Elementwise division is NumPy's
// instead, which has no scale.
template <class T>
HD_SCALAR complex<T> quotient(complex<T> a, complex<T> b) {
  constexpr T large = sizeof(T) == 4 ? static_cast<T>(0x1p100) : static_cast<T>(0x1p900);
  constexpr T small = 1 / large;
  const T width = b.re < 0 ? -b.re : b.re;
  const T height = b.im < 0 ? -b.im : b.im;
  const T longer = width > height ? width : height;
  const T scale = longer < small ? large : longer > large ? small : static_cast<T>(1);
  return complex<T>(a.re * scale, a.im * scale) / complex<T>(b.re * scale, b.im * scale);
}
}  // namespace heddle_scalar
