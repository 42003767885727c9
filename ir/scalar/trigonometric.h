#pragma once
//! section sin needs math vector_math double_circular
//! defines sin
HD_FLOAT_MATH_1(sin, sin)
#ifdef __CUDACC__
HD_DOUBLE_MATH_1(sin, sin)
#else
HD_CIRCULAR(sin, sin)
#endif
HD_SOFT_1(sin)

//! section cos needs math vector_math double_circular
//! defines cos
HD_FLOAT_MATH_1(cos, cos)
#ifdef __CUDACC__
HD_DOUBLE_MATH_1(cos, cos)
#else
HD_CIRCULAR(cos, cos)
#endif
HD_SOFT_1(cos)

//! section tan needs math vector_math double_circular
//! defines tan
HD_FLOAT_MATH_1(tan, tan)
#ifdef __CUDACC__
HD_DOUBLE_MATH_1(tan, tan)
#else
HD_CIRCULAR(tan, hd_tan)
#endif
HD_SOFT_1(tan)

//! section arcsin needs math vector_math double_arcsin
//! defines arcsin
HD_FLOAT_MATH_1(arcsin, asin)
namespace heddle_scalar {
HD_SCALAR double arcsin(double x) { return double_arcsin(x); }
}  // namespace heddle_scalar
HD_SOFT_1(arcsin)

//! section arccos needs math vector_math
//! defines arccos
HD_VECTOR_MATH_1(arccos, acos)

//! section arctan needs math vector_math
//! defines arctan
HD_VECTOR_MATH_1(arctan, atan)

//! section sinh needs math vector_math double_sinh
//! defines sinh
HD_FLOAT_MATH_1(sinh, sinh)
#ifdef __CUDACC__
HD_DOUBLE_MATH_1(sinh, sinh)
#else
namespace heddle_scalar {
HD_SCALAR double sinh(double x) { return double_sinh(x); }
}  // namespace heddle_scalar
#endif
HD_SOFT_1(sinh)

//! section cosh needs math vector_math
//! defines cosh
HD_VECTOR_MATH_1(cosh, cosh)

//! section tanh needs math vector_math
//! defines tanh
#ifdef __CUDACC__
HD_MATH_1(tanh_of_numbers, tanh)
namespace heddle_scalar {
// The instruction's relative error is 2^-11: an eighth of a unit in bfloat16's last place.
HD_SCALAR float tanh_near(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
template <class T>
HD_SCALAR T tanh(T x) {
  if constexpr (is_soft<T>) {
    if constexpr (T::mantissa_bits <= 7) return narrow<T>(tanh_near(widen(x)));
  }
  return tanh_of_numbers(x);
}
}  // namespace heddle_scalar
#else
HD_VECTOR_MATH_1(tanh, tanh)
#endif

//! section arcsinh needs math vector_math double_arcsinh
//! defines arcsinh
HD_FLOAT_MATH_1(arcsinh, asinh)
namespace heddle_scalar {
HD_SCALAR double arcsinh(double x) { return double_arcsinh(x); }
}  // namespace heddle_scalar
HD_SOFT_1(arcsinh)

//! section arccosh needs math vector_math double_arccosh
//! defines arccosh
HD_FLOAT_MATH_1(arccosh, acosh)
namespace heddle_scalar {
HD_SCALAR double arccosh(double x) { return double_arccosh(x); }
}  // namespace heddle_scalar
HD_SOFT_1(arccosh)

//! section arctanh needs math vector_math double_arctanh
//! defines arctanh
HD_FLOAT_MATH_1(arctanh, atanh)
namespace heddle_scalar {
HD_SCALAR double arctanh(double x) { return double_arctanh(x); }
}  // namespace heddle_scalar
HD_SOFT_1(arctanh)

//! section erf needs math vector_math
//! defines erf
HD_VECTOR_MATH_1(erf, erf)

//! section arctan2 needs math vector_math
//! defines arctan2
HD_VECTOR_MATH_2(arctan2, atan2)

//! section hypot needs math vector_math
//! defines hypot
HD_VECTOR_MATH_2(hypot, hypot)

//! section degrees needs core
//! defines degrees radians
namespace heddle_scalar {
template <class T>
HD_SCALAR T degrees(T x) {
  return narrow<T>(widen(x) * static_cast<decltype(widen(x))>(57.2957795130823208768));
}
template <class T>
HD_SCALAR T radians(T x) {
  return narrow<T>(widen(x) * static_cast<decltype(widen(x))>(0.01745329251994329577));
}
}  // namespace heddle_scalar

//! section sinc needs sin rounding
//! defines sinc
namespace heddle_scalar {
// sin(pi x) / (pi x). x is reduced modulo 2 and folded into [-1/2, 1/2] first. Both steps are
// exact, so the result is accurate near the zeros.
template <class T>
HD_SCALAR T sinc(T value) {
  const auto x = widen(value);
  using X = decltype(widen(value));
  constexpr X pi = static_cast<X>(3.14159265358979323846);
  const X turned = x - 2 * rint(x * static_cast<X>(0.5));
  const X below = turned < static_cast<X>(-0.5) ? -1 - turned : turned;
  const X folded = turned > static_cast<X>(0.5) ? 1 - turned : below;
  const X result = sin(pi * folded) / (pi * x);
  return narrow<T>(x == 0 ? static_cast<X>(1) : result);
}
}  // namespace heddle_scalar
