#pragma once
//! section complex needs core
// Complex numbers as a pair of parts. Arithmetic follows NumPy: products by the textbook formula,
// quotients by Smith's method, and without Annex G of the C standard, which recovers infinities
// from NaN. The order is lexicographic.
namespace heddle_scalar {
// GCC 12 fuses the two halves of a complex product or quotient into one instruction even if
// contraction is disabled. The barrier makes each product round separately.
template <class T>
HD_SCALAR T rounded(T product) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(product);
#else
  return product;
#endif
}

template <class T>
struct complex {
  using Part = T;
  T re, im;

  complex() = default;
  HD_SCALAR explicit complex(T real) : re(real), im(0) {}
  HD_SCALAR complex(T real, T imaginary) : re(real), im(imaginary) {}

  friend HD_SCALAR complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend HD_SCALAR complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend HD_SCALAR complex operator-(complex a) { return {-a.re, -a.im}; }
  friend HD_SCALAR complex operator*(complex a, complex b) {
    return {rounded(a.re * b.re) - rounded(a.im * b.im),
            rounded(a.re * b.im) + rounded(a.im * b.re)};
  }
  // The larger part of b is divided out first, so that its square neither overflows nor underflows.
  friend HD_SCALAR complex operator/(complex a, complex b) {
    const T width = b.re < 0 ? -b.re : b.re;
    const T height = b.im < 0 ? -b.im : b.im;
    const bool wide = width >= height;
    const T large = wide ? b.re : b.im;
    const T small = wide ? b.im : b.re;
    const T ratio = small / large;
    const T scale = 1 / (large + rounded(small * ratio));
    const T first = wide ? a.re : a.im;
    const T second = wide ? a.im : a.re;
    const T imaginary = wide ? second - rounded(first * ratio) : rounded(first * ratio) - second;
    const bool by_zero = wide & (width == 0);
    const T magnitude = by_zero ? static_cast<T>(0) : large;
    return {by_zero ? a.re / magnitude : (first + rounded(second * ratio)) * scale,
            by_zero ? a.im / magnitude : imaginary * scale};
  }
  friend HD_SCALAR bool operator==(complex a, complex b) { return (a.re == b.re) & (a.im == b.im); }
  friend HD_SCALAR bool operator!=(complex a, complex b) { return (a.re != b.re) | (a.im != b.im); }
  friend HD_SCALAR bool operator>(complex a, complex b) {
    const bool numbers = (a.im == a.im) & (b.im == b.im);
    return ((a.re > b.re) & numbers) | ((a.re == b.re) & (a.im > b.im));
  }
  friend HD_SCALAR bool operator>=(complex a, complex b) {
    const bool numbers = (a.im == a.im) & (b.im == b.im);
    return ((a.re > b.re) & numbers) | ((a.re == b.re) & (a.im >= b.im));
  }
  friend HD_SCALAR bool operator<(complex a, complex b) { return b > a; }
  friend HD_SCALAR bool operator<=(complex a, complex b) { return b >= a; }
};
template <class T>
inline constexpr bool is_complex<complex<T>> = true;
using complex64 = complex<float>;
using complex128 = complex<double>;

template <class T>
HD_SCALAR bool truth(complex<T> z) {
  return (z.re != 0) | (z.im != 0);
}
}  // namespace heddle_scalar

//! section make_complex needs complex
//! defines make_complex
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> make_complex(T real, T imaginary) {
  return {real, imaginary};
}
}  // namespace heddle_scalar

//! section complex_parts needs complex
//! defines_complex conjugate real imag
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> conjugate(complex<T> z) {
  return {z.re, -z.im};
}
template <class T>
HD_SCALAR T real(complex<T> z) {
  return z.re;
}
template <class T>
HD_SCALAR T imag(complex<T> z) {
  return z.im;
}
}  // namespace heddle_scalar

//! section complex_reciprocal needs complex
//! defines_complex reciprocal
namespace heddle_scalar {
// The reciprocal of 0 is NaN, unlike 1 / 0.
template <class T>
HD_SCALAR complex<T> reciprocal(complex<T> z) {
  const T width = z.re < 0 ? -z.re : z.re;
  const T height = z.im < 0 ? -z.im : z.im;
  const bool wide = height <= width;
  const T large = wide ? z.re : z.im;
  const T small = wide ? z.im : z.re;
  const T ratio = small / large;
  const T divisor = large + small * ratio;
  const T first = 1 / divisor;
  const T second = ratio / divisor;
  return {wide ? first : second, wide ? -second : -first};
}
}  // namespace heddle_scalar

//! section complex_absolute needs complex hypot
//! defines_complex absolute
namespace heddle_scalar {
template <class T>
HD_SCALAR T absolute(complex<T> z) {
  return hypot(z.re, z.im);
}
}  // namespace heddle_scalar

//! section complex_sign needs complex sqrt
//! defines_complex sign
namespace heddle_scalar {
// z / |z|, where both are first divided by the larger part. If exactly one part is infinite: the
// unit along that axis.
template <class T>
HD_SCALAR complex<T> sign(complex<T> z) {
  const bool re_infinite = (z.re == z.re) & (z.re - z.re != 0);
  const bool im_infinite = (z.im == z.im) & (z.im - z.im != 0);
  if (re_infinite != im_infinite) {
    const T unit = static_cast<T>((re_infinite ? z.re : z.im) < 0 ? -1 : 1);
    return re_infinite ? complex<T>(unit, 0) : complex<T>(0, unit);
  }
  if (z.re == 0 && z.im == 0) return complex<T>(0);
  const T width = z.re < 0 ? -z.re : z.re;
  const T height = z.im < 0 ? -z.im : z.im;
  const T longer = width > height ? width : height;
  const T x = z.re / longer;
  const T y = z.im / longer;
  const T size = sqrt(x * x + y * y);  // in [1, sqrt(2)]
  return {x / size, y / size};
}
}  // namespace heddle_scalar

//! section complex_rint needs complex rounding
//! defines_complex rint
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> rint(complex<T> z) {
  return {rint(z.re), rint(z.im)};
}
}  // namespace heddle_scalar

//! section complex_classify needs complex classify
//! defines_complex isfinite isinf isnan
namespace heddle_scalar {
template <class T>
HD_SCALAR bool isfinite(complex<T> z) {
  return isfinite(z.re) && isfinite(z.im);
}
template <class T>
HD_SCALAR bool isnan(complex<T> z) {
  return isnan(z.re) || isnan(z.im);
}
template <class T>
HD_SCALAR bool isinf(complex<T> z) {
  return isinf(z.re) || isinf(z.im);
}
}  // namespace heddle_scalar

//! section complex_select needs complex select
//! defines_complex select
namespace heddle_scalar {
template <class T>
HD_SCALAR complex<T> select(bool condition, complex<T> a, complex<T> b) {
  return {select(condition, a.re, b.re), select(condition, a.im, b.im)};
}
}  // namespace heddle_scalar

//! section complex_maximum needs complex_select
//! defines_complex maximum minimum fmax fmin
namespace heddle_scalar {
// Lexicographic order. If an operand is NaN, the first such operand; for equal operands, the first
// one.
template <class T>
HD_SCALAR complex<T> maximum(complex<T> a, complex<T> b) {
  return select(a != a || a >= b, a, b);
}
template <class T>
HD_SCALAR complex<T> minimum(complex<T> a, complex<T> b) {
  return select(a != a || a <= b, a, b);
}
template <class T>
HD_SCALAR complex<T> fmax(complex<T> a, complex<T> b) {
  return select(b != b || a >= b, a, b);
}
template <class T>
HD_SCALAR complex<T> fmin(complex<T> a, complex<T> b) {
  return select(b != b || a <= b, a, b);
}
}  // namespace heddle_scalar

//! section complex_reduce_min needs limits complex_maximum reduce_min
//! defines_complex min

//! section complex_reduce_max needs limits complex_maximum reduce_max
//! defines_complex max

//! section complex_scan_cummin needs complex_reduce_min scan_cummin
//! defines_complex cummin

//! section complex_scan_cummax needs complex_reduce_max scan_cummax
//! defines_complex cummax
