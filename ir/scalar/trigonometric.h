#pragma once
//! section sin needs math
//! defines sin
HD_VECTOR_MATH(sin)
HD_MATH_1(sin, sin)

//! section cos needs math
//! defines cos
HD_VECTOR_MATH(cos)
HD_MATH_1(cos, cos)

//! section tan needs math
//! defines tan
HD_VECTOR_MATH(tan)
HD_MATH_1(tan, tan)

//! section arcsin needs math
//! defines arcsin
HD_VECTOR_MATH(asin)
HD_MATH_1(arcsin, asin)

//! section arccos needs math
//! defines arccos
HD_VECTOR_MATH(acos)
HD_MATH_1(arccos, acos)

//! section arctan needs math
//! defines arctan
HD_VECTOR_MATH(atan)
HD_MATH_1(arctan, atan)

//! section sinh needs math
//! defines sinh
HD_VECTOR_MATH(sinh)
HD_MATH_1(sinh, sinh)

//! section cosh needs math
//! defines cosh
HD_VECTOR_MATH(cosh)
HD_MATH_1(cosh, cosh)

//! section tanh needs math
//! defines tanh
HD_VECTOR_MATH(tanh)
HD_MATH_1(tanh, tanh)

//! section arcsinh needs math
//! defines arcsinh
HD_VECTOR_MATH(asinh)
HD_MATH_1(arcsinh, asinh)

//! section arccosh needs math
//! defines arccosh
HD_VECTOR_MATH(acosh)
HD_MATH_1(arccosh, acosh)

//! section arctanh needs math
//! defines arctanh
HD_VECTOR_MATH(atanh)
HD_MATH_1(arctanh, atanh)

//! section erf needs math
//! defines erf
HD_VECTOR_MATH(erf)
HD_MATH_1(erf, erf)

//! section arctan2 needs math
//! defines arctan2
HD_VECTOR_MATH_2(atan2)
HD_MATH_2(arctan2, atan2)

//! section hypot needs math
//! defines hypot
HD_VECTOR_MATH_2(hypot)
HD_MATH_2(hypot, hypot)

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
// sin(pi x) / (pi x), with x taken modulo 2 and folded into [-1/2, 1/2] first, both exact, so that
// it is accurate near its zeros.
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
