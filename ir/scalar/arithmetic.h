#pragma once
//! section arithmetic needs core
//! defines add subtract multiply divide negative square
namespace heddle_scalar {
template <class T>
HD_SCALAR T add(T a, T b) {
  return narrow<T>(ring(a) + ring(b));
}
HD_SCALAR bool add(bool a, bool b) { return a | b; }
template <class T>
HD_SCALAR T subtract(T a, T b) {
  return narrow<T>(ring(a) - ring(b));
}
template <class T>
HD_SCALAR T multiply(T a, T b) {
  return narrow<T>(ring(a) * ring(b));
}
HD_SCALAR bool multiply(bool a, bool b) { return a & b; }
template <class T>
HD_SCALAR T divide(T a, T b) {
  return narrow<T>(widen(a) / widen(b));
}
template <class T>
HD_SCALAR T negative(T x) {
  if constexpr (is_soft<T>) {
    return negated(x);
  } else {
    return narrow<T>(-ring(x));
  }
}
template <class T>
HD_SCALAR T square(T x) {
  return narrow<T>(ring(x) * ring(x));
}
}  // namespace heddle_scalar

//! section divisor needs arithmetic math
HD_PLAIN_MATH(fabs)
#ifndef __CUDACC__
extern "C" float fmaf(float, float, float) noexcept;
#endif
namespace heddle_scalar {
// A divisor of many numbers, with a precomputed inverse. A quotient is the product with the
// inverse, rounded once, followed by two correction steps with exact errors (Markstein,
// "Computation of elementary functions on the IBM RISC System/6000", 1990). The result equals that
// of divide(). The steps are scaled, so that errors stay exact if the quotient is subnormal. One
// case may then round the wrong way: an error of exactly half a unit, the `tie`. In this case, and
// for infinities, NaN and a divisor that is not `ordinary`, `rare` is set, and the caller divides
// again without a Divisor. On a GPU, an IEEE division is a function call, which would cost the
// registers that hold the row. `approximate` division is already cheap.
template <class T>
struct Divisor {
  T value;
#ifndef HD_APPROXIMATE
  float scale, magnitude, inverse, tie;

  HD_SCALAR Divisor() = default;
  HD_SCALAR Divisor(T b) : value(b) {
    const float y = ::fabsf(widen(b));
    scale = widen(b) < 0 ? -0x1p60f : 0x1p60f;
    magnitude = y * 0x1p60f;
    inverse = 1 / y * 0x1p-60f;
    tie = y * 0x1p-90f;
  }
  HD_SCALAR bool ordinary() const {
    const float y = ::fabsf(widen(value));
    return y > 0x1p-59f && y < 0x1p62f;
  }
#else
  HD_SCALAR Divisor() = default;
  HD_SCALAR Divisor(T b) : value(b) {}
  HD_SCALAR bool ordinary() const { return true; }
#endif
};
template <class T>
HD_SCALAR T divide(T a, const Divisor<T>& b) {
  return divide(a, b.value);
}
template <class T>
HD_SCALAR T divide(T a, const Divisor<T>& b, bool& rare) {
#ifndef HD_APPROXIMATE
  const float x = widen(a) * b.scale;
  float quotient = x * b.inverse;
  quotient = ::fmaf(::fmaf(b.magnitude, quotient, -x), -b.inverse, quotient);
  const float error = ::fmaf(b.magnitude, quotient, -x);
  rare |= !(::fabsf(error) < b.tie || ::fabsf(error) > b.tie);
  return narrow<T>(::fmaf(error, -b.inverse, quotient));
#else
  return divide(a, b.value);
#endif
}
}  // namespace heddle_scalar

//! section reciprocal needs core
//! defines reciprocal
namespace heddle_scalar {
// 1 / 0 for integers is NumPy's result on x86-64: the smallest i32 or i64, and 0 for other types.
template <class T>
HD_SCALAR T reciprocal(T x) {
  if constexpr (is_integer<T>) {
    constexpr T of_zero = is_signed<T> && sizeof(T) >= 4
                              ? static_cast<T>(1ull << (8 * sizeof(T) - 1))
                              : static_cast<T>(0);
    const T inverse = x == 1 ? x : static_cast<T>(0);
    if constexpr (is_signed<T>) {
      return x == 0 ? of_zero : x == -1 ? x : inverse;
    } else {
      return x == 0 ? of_zero : inverse;
    }
  } else {
    return narrow<T>(1 / widen(x));
  }
}
}  // namespace heddle_scalar

//! section absolute needs math
//! defines absolute fabs
HD_PLAIN_MATH(fabs)
namespace heddle_scalar {
HD_SCALAR float fabs(float x) { return ::fabsf(x); }
HD_SCALAR double fabs(double x) { return ::fabs(x); }
template <class T>
HD_SCALAR T fabs(T x) {
  return magnitude_of(x);
}
template <class T>
HD_SCALAR T absolute(T x) {
  if constexpr (is_integer<T>) {
    if constexpr (is_signed<T> && sizeof(T) == 2) {
      // max(x, -x), not written as abs: ptxas (CUDA 13.0) assumes that the result of abs.s16 is
      // never negative, but it is for -32768.
      const T opposite = narrow<T>(-ring(x));
      return x < opposite ? opposite : x;
    } else if constexpr (is_signed<T>) {
      return x < 0 ? narrow<T>(-ring(x)) : x;
    } else {
      return x;
    }
  } else {
    return fabs(x);
  }
}
HD_SCALAR bool absolute(bool x) { return x; }
}  // namespace heddle_scalar

//! section sign needs core
//! defines sign
namespace heddle_scalar {
template <class T>
HD_SCALAR T sign(T value) {
  const auto x = widen(value);
  if constexpr (!is_integer<T>) {
    const auto unit = static_cast<decltype(widen(value))>((x > 0) - (x < 0));
    return narrow<T>(x != x ? x : unit);
  } else if constexpr (is_signed<T>) {
    return static_cast<T>((x > 0) - (x < 0));
  } else {
    return static_cast<T>(x != 0);
  }
}
}  // namespace heddle_scalar

//! section heaviside needs core
//! defines heaviside
namespace heddle_scalar {
template <class T>
HD_SCALAR T heaviside(T value, T at_zero) {
  const auto x = widen(value);
  using X = decltype(widen(value));
  const X step = x > 0 ? static_cast<X>(1) : static_cast<X>(0);
  const X result = x == 0 ? widen(at_zero) : step;
  return narrow<T>(x != x ? x : result);
}
}  // namespace heddle_scalar

//! section parts needs core
//! defines conjugate real imag
namespace heddle_scalar {
template <class T>
HD_SCALAR T conjugate(T x) {
  return x;
}
template <class T>
HD_SCALAR T real(T x) {
  return x;
}
template <class T>
HD_SCALAR T imag(T) {
  return T();
}
}  // namespace heddle_scalar

//! section rounding needs math
//! defines rint floor ceil trunc modf_integer
HD_PLAIN_MATH(rint)
HD_PLAIN_MATH(floor)
HD_PLAIN_MATH(ceil)
HD_PLAIN_MATH(trunc)
HD_MATH_1(rint, rint)
HD_MATH_1(floor, floor)
HD_MATH_1(ceil, ceil)
HD_MATH_1(trunc, trunc)
HD_MATH_1(modf_integer, trunc)
