#pragma once
//! section comparison needs distinct
//! defines greater greater_equal less less_equal equal not_equal
namespace heddle_scalar {
template <class T>
HD_SCALAR bool greater(T a, T b) {
  return widen(a) > widen(b);
}
template <class T>
HD_SCALAR bool greater_equal(T a, T b) {
  return widen(a) >= widen(b);
}
template <class T>
HD_SCALAR bool less(T a, T b) {
  return widen(a) < widen(b);
}
template <class T>
HD_SCALAR bool less_equal(T a, T b) {
  return widen(a) <= widen(b);
}
template <class T>
HD_SCALAR bool equal(T a, T b) {
  if constexpr (is_complex<T>) {
    return equal_numbers(a.re, b.re) & equal_numbers(a.im, b.im);
  } else {
    return equal_numbers(widen(a), widen(b));
  }
}
template <class T>
HD_SCALAR bool not_equal(T a, T b) {
  return !equal(a, b);
}
}  // namespace heddle_scalar

//! section logical needs distinct
//! defines logical_and logical_or logical_xor logical_not
namespace heddle_scalar {
template <class T>
HD_SCALAR bool logical_and(T a, T b) {
  const bool x = truth(a);
  const bool y = truth(b);
  return x & y;
}
template <class T>
HD_SCALAR bool logical_or(T a, T b) {
  return either(truth(a), truth(b));
}
template <class T>
HD_SCALAR bool logical_xor(T a, T b) {
  return truth(a) != truth(b);
}
template <class T>
HD_SCALAR bool logical_not(T x) {
  return !truth(x);
}
}  // namespace heddle_scalar

//! section select needs core
//! defines select
namespace heddle_scalar {
#ifdef __CUDACC__
template <class T>
HD_SCALAR T select(bool condition, T a, T b) {
  return condition ? a : b;
}
#else
// With bit masks: a choice would allow the compiler to read only one operand, which prevents
// vectorisation.
template <class U, class T>
HD_SCALAR T select_bits(bool condition, T a, T b) {
  const U mask = condition ? static_cast<U>(-1) : static_cast<U>(0);
  const U x = __builtin_bit_cast(U, a);
  const U y = __builtin_bit_cast(U, b);
  return __builtin_bit_cast(T, static_cast<U>((x & mask) | (y & ~mask)));
}
template <class T>
HD_SCALAR T select(bool condition, T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return select_bits<unsigned long long>(condition, a, b);
  } else if constexpr (sizeof(T) == 4) {
    return select_bits<unsigned int>(condition, a, b);
  } else if constexpr (sizeof(T) == 2) {
    return select_bits<unsigned short>(condition, a, b);
  } else {
    return select_bits<unsigned char>(condition, a, b);
  }
}
HD_SCALAR bool select(bool condition, bool a, bool b) { return (condition & a) | (!condition & b); }
#endif
}  // namespace heddle_scalar

//! section maximum needs bits distinct
//! defines maximum minimum
namespace heddle_scalar {
// NaN if either operand is NaN. +0 is greater than -0, so the order of operands does not matter.
template <class X>
HD_SCALAR X maximum_float(X a, X b) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  if constexpr (is_same<X, float>) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  }
#endif
  return a != a || b != b ? a + b : ::fmax(a, b);
#else
  const X larger = a > b ? a : b;
  const X ordered = a == b ? float_of(bits_of(a) & bits_of(b)) : larger;
  return a != a ? a : ordered;
#endif
}
template <class X>
HD_SCALAR X minimum_float(X a, X b) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
  if constexpr (is_same<X, float>) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  }
#endif
  return a != a || b != b ? a + b : ::fmin(a, b);
#else
  const X smaller = a < b ? a : b;
  const X ordered = a == b ? float_of(bits_of(a) | bits_of(b)) : smaller;
  return a != a ? a : ordered;
#endif
}
template <class T>
HD_SCALAR T maximum(T a, T b) {
  if constexpr (is_float<T> || is_soft<T>) {
    return narrow<T>(maximum_float(widen(a), widen(b)));
  } else {
    return maximum_integer(a, b);
  }
}
HD_SCALAR bool maximum(bool a, bool b) { return either(a, b); }
template <class T>
HD_SCALAR T minimum(T a, T b) {
  if constexpr (is_float<T> || is_soft<T>) {
    return narrow<T>(minimum_float(widen(a), widen(b)));
  } else {
    return a < b ? a : b;
  }
}
HD_SCALAR bool minimum(bool a, bool b) { return a & b; }
}  // namespace heddle_scalar

//! section fmax needs bits distinct
//! defines fmax fmin
namespace heddle_scalar {
// If one operand is NaN, the other one. +0 is greater than -0.
template <class X>
HD_SCALAR X fmax_float(X a, X b) {
#ifdef __CUDACC__
  return ::fmax(a, b);
#else
  const X larger = a > b ? a : b;
  const X ordered = a == b ? float_of(bits_of(a) & bits_of(b)) : larger;
  return b != b ? a : ordered;
#endif
}
template <class X>
HD_SCALAR X fmin_float(X a, X b) {
#ifdef __CUDACC__
  return ::fmin(a, b);
#else
  const X smaller = a < b ? a : b;
  const X ordered = a == b ? float_of(bits_of(a) | bits_of(b)) : smaller;
  return b != b ? a : ordered;
#endif
}
template <class T>
HD_SCALAR T fmax(T a, T b) {
  if constexpr (is_float<T> || is_soft<T>) {
    return narrow<T>(fmax_float(widen(a), widen(b)));
  } else {
    return maximum_integer(a, b);
  }
}
HD_SCALAR bool fmax(bool a, bool b) { return either(a, b); }
template <class T>
HD_SCALAR T fmin(T a, T b) {
  if constexpr (is_float<T> || is_soft<T>) {
    return narrow<T>(fmin_float(widen(a), widen(b)));
  } else {
    return a < b ? a : b;
  }
}
HD_SCALAR bool fmin(bool a, bool b) { return a & b; }
}  // namespace heddle_scalar
