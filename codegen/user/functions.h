#pragma once
//! section user_functions needs core
// What users' functions may use besides C++: the functions of CUDA that a CPU does not have.
#ifndef __CUDACC__
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#endif
namespace heddle_user {
#ifndef __CUDACC__
// Of a number and NaN, the number, as on a GPU.
template <class A, class B>
HD_SCALAR auto max(A a, B b) {
  using Common = decltype(a + b);
  const Common x = static_cast<Common>(a), y = static_cast<Common>(b);
  return (x < y) | (x != x) ? y : x;
}
template <class A, class B>
HD_SCALAR auto min(A a, B b) {
  using Common = decltype(a + b);
  const Common x = static_cast<Common>(a), y = static_cast<Common>(b);
  return (y < x) | (x != x) ? y : x;
}
HD_SCALAR float rsqrtf(float x) { return 1 / ::sqrtf(x); }
HD_SCALAR float rsqrt(float x) { return 1 / ::sqrtf(x); }
HD_SCALAR double rsqrt(double x) { return 1 / ::sqrt(x); }
HD_SCALAR float rcbrtf(float x) { return 1 / ::cbrtf(x); }
HD_SCALAR double rcbrt(double x) { return 1 / ::cbrt(x); }
HD_SCALAR float exp10f(float x) { return ::powf(10, x); }
HD_SCALAR double exp10(double x) { return ::pow(10, x); }
// Exact at multiples of 0.5.
HD_SCALAR double sinpi(double x) {
  double r = ::remainder(x, 2);
  if (::fabs(r) > 0.5) r = ::copysign(1.0, r) - r;
  return ::sin(3.14159265358979323846 * r);
}
HD_SCALAR double cospi(double x) {
  return ::sin(3.14159265358979323846 * (0.5 - ::fabs(::remainder(x, 2))));
}
HD_SCALAR float sinpif(float x) { return static_cast<float>(sinpi(x)); }
HD_SCALAR float cospif(float x) { return static_cast<float>(cospi(x)); }
// Approximations (in the tails Abramowitz and Stegun 26.2.23), and Halley's steps.
HD_SCALAR double inverse_erf_near_zero(double y) {
  double x = 0.88622692545275801365 * y;
  for (int step = 0; step < 4; ++step) {
    const double error = ::erf(x) - y;
    x -= error / (1.12837916709551257390 * ::exp(-x * x) + x * error);
  }
  return x;
}
HD_SCALAR double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? INFINITY : y == 2 ? -INFINITY : NAN;
  if (y >= 0.5 && y <= 1.5) return inverse_erf_near_zero(1 - y);
  const double tail = y < 1 ? y : 2 - y, t = ::sqrt(-2 * ::log(tail / 2));
  double x = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
  for (int step = 0; step < 3; ++step) {
    const double error = ::erfc(x) - tail;
    const double slope = 1.12837916709551257390 * ::exp(-x * x) - x * error;
    if (slope != 0) x += error / slope;
  }
  return y < 1 ? x : -x;
}
HD_SCALAR double erfinv(double y) {
  if (::fabs(y) > 0.5) return y > 0 ? erfcinv(1 - y) : -erfcinv(1 + y);
  return y == y ? inverse_erf_near_zero(y) : y;
}
HD_SCALAR double erfcx(double x) {
  if (x > 25) {
    const double r = 1 / (x * x);
    const double smaller = r * (1.875 - r * (6.5625 - r * 29.53125));
    return 0.56418958354775628695 / x * (1 - r * (0.5 - r * (0.75 - smaller)));
  }
  const double square = x * x, rounding = ::fma(x, x, -square);
  return ::exp(square) * ::erfc(x) * (1 + rounding);
}
HD_SCALAR double normcdf(double x) { return 0.5 * ::erfc(-x * 0.70710678118654752440); }
HD_SCALAR double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2 * p); }
HD_SCALAR float erfcinvf(float y) { return static_cast<float>(erfcinv(y)); }
HD_SCALAR float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
HD_SCALAR float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
HD_SCALAR float normcdff(float x) { return static_cast<float>(normcdf(x)); }
HD_SCALAR float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }
HD_SCALAR float fdividef(float a, float b) { return a / b; }
HD_SCALAR float __fdividef(float a, float b) { return a / b; }
HD_SCALAR float __expf(float x) { return ::expf(x); }
HD_SCALAR float __logf(float x) { return ::logf(x); }
HD_SCALAR float __sinf(float x) { return ::sinf(x); }
HD_SCALAR float __cosf(float x) { return ::cosf(x); }
HD_SCALAR float __powf(float a, float b) { return ::powf(a, b); }
HD_SCALAR float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
HD_SCALAR int __popc(unsigned int x) { return __builtin_popcount(x); }
HD_SCALAR int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HD_SCALAR int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
HD_SCALAR int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
HD_SCALAR int __ffs(int x) { return __builtin_ffs(x); }
HD_SCALAR int __ffsll(long long x) { return __builtin_ffsll(x); }

// CUDA's atomic functions, which return the old value.
template <class T, class Change>
HD_SCALAR T atomic_change(T* p, const Change& change) {
  T old, next;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    next = change(old);
  } while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
template <class T, class V>
HD_SCALAR T atomicAdd(T* p, V value) {
  return atomic_change(p, [&](T old) { return static_cast<T>(old + static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicSub(T* p, V value) {
  return atomic_change(p, [&](T old) { return static_cast<T>(old - static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicMax(T* p, V value) {
  return atomic_change(p, [&](T old) { return max(old, static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicMin(T* p, V value) {
  return atomic_change(p, [&](T old) { return min(old, static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicAnd(T* p, V value) {
  return atomic_change(p, [&](T old) { return static_cast<T>(old & static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicOr(T* p, V value) {
  return atomic_change(p, [&](T old) { return static_cast<T>(old | static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicXor(T* p, V value) {
  return atomic_change(p, [&](T old) { return static_cast<T>(old ^ static_cast<T>(value)); });
}
template <class T, class V>
HD_SCALAR T atomicExch(T* p, V value) {
  return atomic_change(p, [&](T) { return static_cast<T>(value); });
}
template <class T, class Expected, class V>
HD_SCALAR T atomicCAS(T* p, Expected expected, V value) {
  return atomic_change(
      p, [&](T old) { return old == static_cast<T>(expected) ? static_cast<T>(value) : old; });
}
#else
using ::atomicAdd;
HD_SCALAR long long atomicAdd(long long* p, long long value) {
  return static_cast<long long>(::atomicAdd(reinterpret_cast<unsigned long long*>(p),
                                            static_cast<unsigned long long>(value)));
}
#endif

// Positions in the arrays of an elementwise kernel, as in CuPy.
struct Indexer {
  ptrdiff_t index, count;
  HD_SCALAR ptrdiff_t size() const { return count; }
  HD_SCALAR ptrdiff_t get() const { return index; }
};

// The type of a user's variable, from and to the type of a kernel's value.
template <class T>
HD_SCALAR T carried(T x) {
  return x;
}
// An element that a function assigns in memory.
template <class T, class Stored>
struct InMemory {
  using Reference = T&;
  static HD_SCALAR Reference of(Stored& x) { return reinterpret_cast<T&>(x); }
};
template <class T>
struct FromMemory {
  template <class Stored>
  static HD_SCALAR T of(Stored x) {
    return T(x);
  }
};
}  // namespace heddle_user
