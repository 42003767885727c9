#pragma once
//! section core
// Scalar semantics, the same on every target. Integers wrap. half and bfloat16 are computed in
// float and rounded once, to nearest even.
#ifdef __CUDACC__
#define HD_SCALAR __device__ __forceinline__
#else
#define HD_SCALAR inline __attribute__((always_inline))
#endif
namespace heddle_scalar {
template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
template <class T>
inline constexpr bool is_float = is_same<T, float> || is_same<T, double>;
template <class T>
inline constexpr bool is_soft = false;  // half and bfloat16
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_integer =
    !is_float<T> && !is_soft<T> && !is_complex<T> && !is_same<T, bool>;
template <class T>
inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(1);

// Converts to the type in which T is computed: float for half and bfloat16, else T.
template <class T>
HD_SCALAR T widen(T x) {
  return x;
}
// Converts to the type in which +, - and * of T are computed: unsigned for integers, so that they
// wrap.
template <class T>
HD_SCALAR auto ring(T x) {
  if constexpr (is_integer<T> && sizeof(T) == 8) {
    return static_cast<unsigned long long>(x);
  } else if constexpr (is_integer<T>) {
    return static_cast<unsigned int>(x);
  } else {
    return widen(x);
  }
}
// Converts back to T.
template <class T, class X>
HD_SCALAR T narrow(X x) {
  if constexpr (is_soft<T>) {
    return T::from(x);
  } else {
    return static_cast<T>(x);
  }
}
// The negative of a half or bfloat16, whose highest bit is the sign. Not done on the bits on a GPU:
// ptxas (CUDA 13.0) omits the change of the sign bit if the number was made from an integer.
template <class T>
HD_SCALAR T negated(T x) {
#ifdef __CUDACC__
  return T::from(-widen(x));
#else
  return T{static_cast<unsigned short>(x.bits ^ 0x8000)};
#endif
}
template <class T>
HD_SCALAR T magnitude_of(T x) {
#ifdef __CUDACC__
  return T::from(::fabsf(widen(x)));
#else
  return T{static_cast<unsigned short>(x.bits & 0x7fff)};
#endif
}
template <class T>
HD_SCALAR bool truth(T x) {
  return widen(x) != 0;
}
}  // namespace heddle_scalar

//! section bits needs core
namespace heddle_scalar {
#ifdef __CUDACC__
HD_SCALAR unsigned int bits_of(float x) { return __float_as_uint(x); }
HD_SCALAR unsigned long long bits_of(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}
HD_SCALAR float float_of(unsigned int x) { return __uint_as_float(x); }
HD_SCALAR double float_of(unsigned long long x) {
  return __longlong_as_double(static_cast<long long>(x));
}
#else
HD_SCALAR unsigned int bits_of(float x) { return __builtin_bit_cast(unsigned int, x); }
HD_SCALAR unsigned long long bits_of(double x) { return __builtin_bit_cast(unsigned long long, x); }
HD_SCALAR float float_of(unsigned int x) { return __builtin_bit_cast(float, x); }
HD_SCALAR double float_of(unsigned long long x) { return __builtin_bit_cast(double, x); }
#endif
}  // namespace heddle_scalar

//! section math needs core
// HD_MATH_1(name, function) defines `name` as the C library's `function`, which HD_PLAIN_MATH
// declares on the host. HD_VECTOR_MATH_1(name, function) does both. HD_FLOAT_MATH_1 does so for
// float only. The host versions of the last two are in section vector_math.
#ifdef __CUDACC__
#define HD_PLAIN_MATH(function)
#define HD_PLAIN_MATH_2(function)
#define HD_VECTOR_MATH_1(name, function) HD_MATH_1(name, function)
#define HD_VECTOR_MATH_2(name, function) HD_MATH_2(name, function)
#define HD_FLOAT_MATH_1(name, function)                      \
  namespace heddle_scalar {                                  \
  HD_SCALAR float name(float x) { return ::function##f(x); } \
  }
#else
#define HD_PLAIN_MATH(function)                 \
  extern "C" float function##f(float) noexcept; \
  extern "C" double function(double) noexcept;
#define HD_PLAIN_MATH_2(function)                      \
  extern "C" float function##f(float, float) noexcept; \
  extern "C" double function(double, double) noexcept;
#endif
// Defines `name` for half and bfloat16 through its float version.
#define HD_SOFT_1(name)               \
  namespace heddle_scalar {           \
  template <class T>                  \
  HD_SCALAR T name(T x) {             \
    return narrow<T>(name(widen(x))); \
  }                                   \
  }
#define HD_SOFT_2(name)                         \
  namespace heddle_scalar {                     \
  template <class T>                            \
  HD_SCALAR T name(T x, T y) {                  \
    return narrow<T>(name(widen(x), widen(y))); \
  }                                             \
  }
#define HD_DOUBLE_MATH_1(name, function)                    \
  namespace heddle_scalar {                                 \
  HD_SCALAR double name(double x) { return ::function(x); } \
  }
#define HD_MATH_1(name, function)                            \
  namespace heddle_scalar {                                  \
  HD_SCALAR float name(float x) { return ::function##f(x); } \
  }                                                          \
  HD_DOUBLE_MATH_1(name, function)                           \
  HD_SOFT_1(name)
#define HD_MATH_2(name, function)                                        \
  namespace heddle_scalar {                                              \
  HD_SCALAR float name(float x, float y) { return ::function##f(x, y); } \
  HD_SCALAR double name(double x, double y) { return ::function(x, y); } \
  }                                                                      \
  HD_SOFT_2(name)
// As HD_MATH_1, but with CUDA's less accurate intrinsic if `approximate` is set.
#if defined(__CUDACC__) && defined(HD_APPROXIMATE)
#define HD_APPROXIMATE_MATH_1(name, function)                    \
  namespace heddle_scalar {                                      \
  HD_SCALAR float name(float x) { return ::__##function##f(x); } \
  HD_SCALAR double name(double x) { return ::function(x); }      \
  }                                                              \
  HD_SOFT_1(name)
#else
#define HD_APPROXIMATE_MATH_1(name, function) HD_VECTOR_MATH_1(name, function)
#endif
// As above; for 16-bit floats on a GPU always the intrinsic, which is far more accurate than their
// format.
#ifdef __CUDACC__
#define HD_SOFT_APPROXIMATE_MATH_1(name, function)   \
  HD_APPROXIMATE_MATH_1(name##_of_numbers, function) \
  namespace heddle_scalar {                          \
  template <class T>                                 \
  HD_SCALAR T name(T x) {                            \
    if constexpr (is_soft<T>)                        \
      return narrow<T>(::__##function##f(widen(x))); \
    else                                             \
      return name##_of_numbers(x);                   \
  }                                                  \
  }
#endif

//! section distinct needs core
// Functions whose plain form ptxas compiles wrongly beside others of the same operands.
namespace heddle_scalar {
// Signed integers of up to 32 bits are complemented on a GPU. If ptxas (CUDA 13.0) sees the
// maximum, it makes max(min(x, c), 0) == c, as in clip(x, 0, c) == c, one instruction with a wrong
// truth value.
template <class T>
HD_SCALAR T maximum_integer(T a, T b) {
#ifdef __CUDACC__
  if constexpr (is_signed<T> && sizeof(T) <= 4) {
    int result = 0;
    asm("min.s32 %0, %1, %2;"
        : "=r"(result)
        : "r"(~static_cast<int>(a)), "r"(~static_cast<int>(b)));
    return static_cast<T>(~result);
  }
#endif
  return a > b ? a : b;
}
// a == b of real numbers. The same wrong truth value comes from a clip by choices, as in
// where(x > c, c, x), also if what was clipped is converted before it is compared: a GPU's compiler
// sees neither a comparison of integers nor, in one of floats, where the number comes from.
template <class T>
HD_SCALAR bool equal_numbers(T a, T b) {
#ifdef __CUDACC__
  if constexpr (is_integer<T> && sizeof(T) == 8) {
    long long difference = 0;
    asm("xor.b64 %0, %1, %2;"
        : "=l"(difference)
        : "l"(static_cast<long long>(a)), "l"(static_cast<long long>(b)));
    return difference == 0;
  } else if constexpr (is_integer<T>) {
    int difference = 0;
    asm("xor.b32 %0, %1, %2;"
        : "=r"(difference)
        : "r"(static_cast<int>(a)), "r"(static_cast<int>(b)));
    return difference == 0;
  } else if constexpr (is_same<T, float>) {
    asm("mov.f32 %0, %0;" : "+f"(a));
  } else if constexpr (is_same<T, double>) {
    asm("mov.f64 %0, %0;" : "+d"(a));
  }
#endif
  return a == b;
}
// x | y. Not so written for a GPU: ptxas (CUDA 13.0) makes x & y and x | y of the same operands one
// instruction with two results, and at times takes the first for both.
HD_SCALAR bool either(bool x, bool y) {
#ifdef __CUDACC__
  unsigned int result = 0;
  asm("max.u32 %0, %1, %2;"
      : "=r"(result)
      : "r"(static_cast<unsigned int>(x)), "r"(static_cast<unsigned int>(y)));
  return result != 0;
#else
  return x | y;
#endif
}
}  // namespace heddle_scalar
