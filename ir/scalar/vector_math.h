#pragma once
//! section vector_math needs math
//! host
// HD_VECTOR_MATH_1(name, function) and HD_VECTOR_MATH_2 define `name` through libmvec's version of
// `function`, which compilers call for whole vectors. The last bits of libmvec's results depend on
// the vector width, and the scalar function's differ again. So that results are equal, every call
// ends in the variant for the widest vectors: the narrower variants and the scalar function are
// defined here and hide those of the libraries. Define HD_NO_VECTOR_MATH if there is no libmvec;
// all calls are then scalar.
#ifndef __CUDACC__
#if defined(__x86_64__) && defined(__linux__) && !defined(HD_LIBRARY) && !defined(HD_NO_VECTOR_MATH)
#define HD_HAS_VECTOR_MATH
#define HD_HIDING __attribute__((weak, visibility("hidden"), noinline))
#ifdef __clang__  // clang's -fveclib knows the variants for 16 and 32 bytes
#define HD_SIMD __attribute__((const))
#else
#define HD_SIMD __attribute__((simd("notinbranch"), const))
#endif
#define HD_LANES_16_double "N2"
#define HD_LANES_32_double "N4"
#define HD_LANES_64_double "N8"
#define HD_LANES_16_float "N4"
#define HD_LANES_32_float "N8"
#define HD_LANES_64_float "N16"
#define HD_VARIANT(make, letter, bytes, marks, function, T) \
  make(function, T, bytes, "_ZGV" letter HD_LANES_##bytes##_##T marks "_" #function)
#if defined(__AVX512F__) && !defined(__clang__)
#define HD_WIDEST(make, ...) HD_VARIANT(make, "e", 64, __VA_ARGS__)
#define HD_NARROWER(make, ...)           \
  HD_VARIANT(make, "d", 32, __VA_ARGS__) \
  HD_VARIANT(make, "b", 16, __VA_ARGS__)
#elif defined(__AVX2__)
#define HD_WIDEST(make, ...) HD_VARIANT(make, "d", 32, __VA_ARGS__)
#define HD_NARROWER(make, ...) HD_VARIANT(make, "b", 16, __VA_ARGS__)
#elif defined(__AVX__)
#define HD_WIDEST(make, ...) HD_VARIANT(make, "c", 32, __VA_ARGS__)
#define HD_NARROWER(make, ...) HD_VARIANT(make, "b", 16, __VA_ARGS__)
#else
#define HD_WIDEST(make, ...) HD_VARIANT(make, "b", 16, __VA_ARGS__)
#define HD_NARROWER(make, ...)
#endif
namespace heddle_scalar {
template <class T, int bytes>
struct LanesOf {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T, int bytes>
using Lanes = typename LanesOf<T, bytes>::type;
// A vector that repeats the lanes of x, and the first lanes of a vector.
template <class V, class X>
HD_SCALAR V repeated(X x) {
  V result;
  for (unsigned int at = 0; at < sizeof result; at += sizeof x)
    __builtin_memcpy(reinterpret_cast<char*>(&result) + at, &x, sizeof x);
  return result;
}
template <class X, class V>
HD_SCALAR X first_lanes(V x) {
  X result;
  __builtin_memcpy(&result, &x, sizeof result);
  return result;
}
// Keeps LLVM from evaluating a function of a constant with the scalar function.
template <class T>
HD_SCALAR T not_folded(T x) {
#ifdef __clang__
  if (__builtin_constant_p(x)) asm("" : "+x"(x));
#endif
  return x;
}
}  // namespace heddle_scalar
#define HD_DECLARE_WIDEST_1(function, T, bytes, symbol) \
  typedef Lanes<T, bytes> hd_##function##_lanes;        \
  extern "C" hd_##function##_lanes hd_##function##_widest(hd_##function##_lanes) asm(symbol);
#define HD_DECLARE_WIDEST_2(function, T, bytes, symbol)                          \
  typedef Lanes<T, bytes> hd_##function##_lanes;                                 \
  extern "C" hd_##function##_lanes hd_##function##_widest(hd_##function##_lanes, \
                                                          hd_##function##_lanes) asm(symbol);
#define HD_BY_WIDEST_1(function, X, id, symbol)                                        \
  extern "C" HD_HIDING X id(X) noexcept asm(symbol);                                   \
  X id(X x) noexcept {                                                                 \
    return first_lanes<X>(hd_##function##_widest(repeated<hd_##function##_lanes>(x))); \
  }
#define HD_BY_WIDEST_2(function, X, id, symbol)                                        \
  extern "C" HD_HIDING X id(X, X) noexcept asm(symbol);                                \
  X id(X x, X y) noexcept {                                                            \
    return first_lanes<X>(hd_##function##_widest(repeated<hd_##function##_lanes>(x),   \
                                                 repeated<hd_##function##_lanes>(y))); \
  }
#define HD_NARROWER_1(function, T, bytes, symbol)          \
  typedef Lanes<T, bytes> hd_##function##_##bytes##_lanes; \
  HD_BY_WIDEST_1(function, hd_##function##_##bytes##_lanes, hd_##function##_##bytes, symbol)
#define HD_NARROWER_2(function, T, bytes, symbol)          \
  typedef Lanes<T, bytes> hd_##function##_##bytes##_lanes; \
  HD_BY_WIDEST_2(function, hd_##function##_##bytes##_lanes, hd_##function##_##bytes, symbol)
// For "exp", this declares hd_exp(double) or hd_expf(float).
#define HD_VECTOR_FUNCTION_1(function, T)                       \
  HD_WIDEST(HD_DECLARE_WIDEST_1, "v", function, T)              \
  HD_NARROWER(HD_NARROWER_1, "v", function, T)                  \
  HD_BY_WIDEST_1(function, T, hd_##function##_alone, #function) \
  extern "C" HD_SIMD T hd_##function(T) noexcept asm(#function);
#define HD_VECTOR_FUNCTION_2(function, T)                       \
  HD_WIDEST(HD_DECLARE_WIDEST_2, "vv", function, T)             \
  HD_NARROWER(HD_NARROWER_2, "vv", function, T)                 \
  HD_BY_WIDEST_2(function, T, hd_##function##_alone, #function) \
  extern "C" HD_SIMD T hd_##function(T, T) noexcept asm(#function);
#define HD_VECTOR_NUMBERS_1(name, function, T)                   \
  namespace heddle_scalar {                                      \
  HD_VECTOR_FUNCTION_1(function, T)                              \
  HD_SCALAR T name(T x) { return hd_##function(not_folded(x)); } \
  }
#define HD_VECTOR_NUMBERS_2(name, function, T)                                       \
  namespace heddle_scalar {                                                          \
  HD_VECTOR_FUNCTION_2(function, T)                                                  \
  HD_SCALAR T name(T x, T y) { return hd_##function(not_folded(x), not_folded(y)); } \
  }
#else
#define HD_VECTOR_NUMBERS_1(name, function, T)    \
  extern "C" T function(T) noexcept;              \
  namespace heddle_scalar {                       \
  HD_SCALAR T name(T x) { return ::function(x); } \
  }
#define HD_VECTOR_NUMBERS_2(name, function, T)            \
  extern "C" T function(T, T) noexcept;                   \
  namespace heddle_scalar {                               \
  HD_SCALAR T name(T x, T y) { return ::function(x, y); } \
  }
#endif
#define HD_FLOAT_MATH_1(name, function) HD_VECTOR_NUMBERS_1(name, function##f, float)
#define HD_VECTOR_MATH_1(name, function)        \
  HD_VECTOR_NUMBERS_1(name, function##f, float) \
  HD_VECTOR_NUMBERS_1(name, function, double)   \
  HD_SOFT_1(name)
#define HD_VECTOR_MATH_2(name, function)        \
  HD_VECTOR_NUMBERS_2(name, function##f, float) \
  HD_VECTOR_NUMBERS_2(name, function, double)   \
  HD_SOFT_2(name)
#endif
