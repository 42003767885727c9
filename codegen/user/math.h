#pragma once
//! section user_math needs user_functions
//! host
// The C library's functions of numbers, by Heddle's own, which compilers vectorise.
#define HD_USER_MATH
#define HD_USER_MATH_1(name, op)                                    \
  namespace heddle_user {                                           \
  HD_SCALAR float name##f(float x) { return heddle_scalar::op(x); } \
  HD_SCALAR float name(float x) { return heddle_scalar::op(x); }    \
  HD_SCALAR double name(double x) { return heddle_scalar::op(x); }  \
  template <class T>                                                \
  HD_SCALAR auto name(T x) {                                        \
    return name(static_cast<Computed<T>>(x));                       \
  }                                                                 \
  }
#define HD_USER_MATH_2(name, op)                                                \
  namespace heddle_user {                                                       \
  HD_SCALAR float name##f(float x, float y) { return heddle_scalar::op(x, y); } \
  HD_SCALAR float name(float x, float y) { return heddle_scalar::op(x, y); }    \
  HD_SCALAR double name(double x, double y) { return heddle_scalar::op(x, y); } \
  template <class A, class B>                                                   \
  HD_SCALAR auto name(A x, B y) {                                               \
    using Common = decltype(Computed<A>() + Computed<B>());                     \
    return name(static_cast<Common>(x), static_cast<Common>(y));                \
  }                                                                             \
  }
namespace heddle_user {
template <int Format>
struct Narrow;
// The type in which C++ computes a function of a T: double for integers.
template <class T>
struct ComputedType {
  using Type = double;
};
template <>
struct ComputedType<float> {
  using Type = float;
};
template <int Format>
struct ComputedType<Narrow<Format>> {
  using Type = float;
};
template <class T>
using Computed = typename ComputedType<T>::Type;
}  // namespace heddle_user

//! section user_math_acos needs user_math arccos
//! host
HD_USER_MATH_1(acos, arccos)

//! section user_math_acosh needs user_math arccosh
//! host
HD_USER_MATH_1(acosh, arccosh)

//! section user_math_asin needs user_math arcsin
//! host
HD_USER_MATH_1(asin, arcsin)

//! section user_math_asinh needs user_math arcsinh
//! host
HD_USER_MATH_1(asinh, arcsinh)

//! section user_math_atan needs user_math arctan
//! host
HD_USER_MATH_1(atan, arctan)

//! section user_math_atanh needs user_math arctanh
//! host
HD_USER_MATH_1(atanh, arctanh)

//! section user_math_cbrt needs user_math cbrt
//! host
HD_USER_MATH_1(cbrt, cbrt)

//! section user_math_cos needs user_math cos
//! host
HD_USER_MATH_1(cos, cos)

//! section user_math_cosh needs user_math cosh
//! host
HD_USER_MATH_1(cosh, cosh)

//! section user_math_erf needs user_math erf
//! host
HD_USER_MATH_1(erf, erf)

//! section user_math_exp needs user_math exp
//! host
HD_USER_MATH_1(exp, exp)

//! section user_math_exp2 needs user_math exp2
//! host
HD_USER_MATH_1(exp2, exp2)

//! section user_math_expm1 needs user_math expm1
//! host
HD_USER_MATH_1(expm1, expm1)

//! section user_math_log needs user_math log
//! host
HD_USER_MATH_1(log, log)

//! section user_math_log10 needs user_math log10
//! host
HD_USER_MATH_1(log10, log10)

//! section user_math_log1p needs user_math log1p
//! host
HD_USER_MATH_1(log1p, log1p)

//! section user_math_log2 needs user_math log2
//! host
HD_USER_MATH_1(log2, log2)

//! section user_math_sin needs user_math sin
//! host
HD_USER_MATH_1(sin, sin)

//! section user_math_sinh needs user_math sinh
//! host
HD_USER_MATH_1(sinh, sinh)

//! section user_math_sqrt needs user_math sqrt
//! host
HD_USER_MATH_1(sqrt, sqrt)

//! section user_math_tan needs user_math tan
//! host
HD_USER_MATH_1(tan, tan)

//! section user_math_tanh needs user_math tanh
//! host
HD_USER_MATH_1(tanh, tanh)

//! section user_math_atan2 needs user_math arctan2
//! host
HD_USER_MATH_2(atan2, arctan2)

//! section user_math_hypot needs user_math hypot
//! host
HD_USER_MATH_2(hypot, hypot)

//! section user_math_pow needs user_math power
//! host
HD_USER_MATH_2(pow, power)
