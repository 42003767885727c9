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
HD_SCALAR float sinpif(float x) { return static_cast<float>(::sin(3.14159265358979323846 * x)); }
HD_SCALAR double sinpi(double x) { return ::sin(3.14159265358979323846 * ::fmod(x, 2)); }
HD_SCALAR float cospif(float x) { return static_cast<float>(::cos(3.14159265358979323846 * x)); }
HD_SCALAR double cospi(double x) { return ::cos(3.14159265358979323846 * ::fmod(x, 2)); }
HD_SCALAR double normcdf(double x) { return 0.5 * ::erfc(-x * 0.70710678118654752440); }
HD_SCALAR float normcdff(float x) { return static_cast<float>(normcdf(x)); }
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
#endif

#ifndef __CUDACC__
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
template <class T, class V>
HD_SCALAR T atomicCAS(T* p, V expected, V value) {
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

//! section user_narrow needs user_functions
namespace heddle_user {
// A number of 16 bits. It is computed in float; assignments round. No type of heddle_scalar is an
// argument of the template, so that calls do not find the functions there.
template <int Format>
struct NarrowFormat;
template <int Format>
struct Narrow {
  using Stored = typename NarrowFormat<Format>::Stored;
  float value = 0;
  Narrow() = default;
  HD_SCALAR Narrow(float x) : value(widen(Stored::from(x))) {}
  HD_SCALAR Narrow(double x) : value(widen(Stored::from(x))) {}
  HD_SCALAR Narrow(bool x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow(int x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow(unsigned int x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow(long x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow(unsigned long x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow(long long x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow(unsigned long long x) : Narrow(static_cast<float>(x)) {}
  HD_SCALAR Narrow& operator++() { return *this += 1; }
  HD_SCALAR Narrow& operator--() { return *this -= 1; }
  HD_SCALAR Narrow operator++(int) {
    const Narrow before = *this;
    *this += 1;
    return before;
  }
  HD_SCALAR Narrow operator--(int) {
    const Narrow before = *this;
    *this -= 1;
    return before;
  }
  HD_SCALAR operator float() const { return value; }
  HD_SCALAR Narrow& operator+=(float x) { return *this = Narrow(value + x); }
  HD_SCALAR Narrow& operator-=(float x) { return *this = Narrow(value - x); }
  HD_SCALAR Narrow& operator*=(float x) { return *this = Narrow(value * x); }
  HD_SCALAR Narrow& operator/=(float x) { return *this = Narrow(value / x); }
};
template <int Format>
HD_SCALAR float carried(Narrow<Format> x) {
  return x.value;
}
template <int Format>
struct FromMemory<Narrow<Format>> {
  using Stored = typename NarrowFormat<Format>::Stored;
  static HD_SCALAR Narrow<Format> of(Stored x) { return widen(x); }
  static HD_SCALAR Narrow<Format> of(unsigned short bits) { return of(Stored{bits}); }
};
}  // namespace heddle_user

namespace heddle_user {
template <int Format, class Memory>
struct NarrowReference {
  using Number = Narrow<Format>;
  using Stored = typename Number::Stored;
  Memory* p;
  static HD_SCALAR void put(Stored* p, Stored x) { *p = x; }
  static HD_SCALAR void put(unsigned short* p, Stored x) { *p = x.bits; }
  HD_SCALAR operator float() const { return FromMemory<Number>::of(*p); }
  HD_SCALAR const NarrowReference& operator=(float x) const {
    put(p, Stored::from(x));
    return *this;
  }
  HD_SCALAR const NarrowReference& operator=(const NarrowReference& other) const {
    return *this = static_cast<float>(other);
  }
  HD_SCALAR const NarrowReference& operator+=(float x) const { return *this = *this + x; }
  HD_SCALAR const NarrowReference& operator-=(float x) const { return *this = *this - x; }
  HD_SCALAR const NarrowReference& operator*=(float x) const { return *this = *this * x; }
  HD_SCALAR const NarrowReference& operator/=(float x) const { return *this = *this / x; }
};
template <int Format, class Memory>
struct InMemory<Narrow<Format>, Memory> {
  using Reference = NarrowReference<Format, Memory>;
  static HD_SCALAR Reference of(Memory& x) { return {&x}; }
};
}  // namespace heddle_user

//! section user_half needs user_narrow half
namespace heddle_user {
template <>
struct NarrowFormat<0> {
  using Stored = heddle_scalar::half;
};
using float16 = Narrow<0>;
}  // namespace heddle_user

//! section user_bfloat16 needs user_narrow bfloat16
namespace heddle_user {
template <>
struct NarrowFormat<1> {
  using Stored = heddle_scalar::bfloat16;
};
using bfloat16 = Narrow<1>;
}  // namespace heddle_user

//! section user_complex needs user_functions complex complex_absolute complex_power complex_log10 complex_sqrt complex_tanh complex_sinh arctan2
namespace heddle_user {
template <class T>
struct complex {
  using value_type = T;
  T re, im;
  HD_SCALAR complex(T real = 0, T imaginary = 0) : re(real), im(imaginary) {}
  HD_SCALAR complex(heddle_scalar::complex<T> z) : re(z.re), im(z.im) {}
  template <class U>
  HD_SCALAR explicit complex(complex<U> z) : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}
  HD_SCALAR operator heddle_scalar::complex<T>() const { return {re, im}; }
  HD_SCALAR T real() const { return re; }
  HD_SCALAR T imag() const { return im; }
  HD_SCALAR void real(T x) { re = x; }
  HD_SCALAR void imag(T x) { im = x; }
  HD_SCALAR heddle_scalar::complex<T> parts() const { return {re, im}; }
  friend HD_SCALAR complex operator+(complex a, complex b) { return a.parts() + b.parts(); }
  friend HD_SCALAR complex operator-(complex a, complex b) { return a.parts() - b.parts(); }
  friend HD_SCALAR complex operator*(complex a, complex b) { return a.parts() * b.parts(); }
  friend HD_SCALAR complex operator/(complex a, complex b) { return a.parts() / b.parts(); }
  friend HD_SCALAR complex operator-(complex a) { return -a.parts(); }
  friend HD_SCALAR complex operator+(complex a) { return a; }
  friend HD_SCALAR bool operator==(complex a, complex b) { return a.parts() == b.parts(); }
  friend HD_SCALAR bool operator!=(complex a, complex b) { return a.parts() != b.parts(); }
  friend HD_SCALAR bool operator<(complex a, complex b) { return a.parts() < b.parts(); }
  friend HD_SCALAR bool operator>(complex a, complex b) { return a.parts() > b.parts(); }
  friend HD_SCALAR bool operator<=(complex a, complex b) { return a.parts() <= b.parts(); }
  friend HD_SCALAR bool operator>=(complex a, complex b) { return a.parts() >= b.parts(); }
  HD_SCALAR complex& operator+=(complex b) { return *this = *this + b; }
  HD_SCALAR complex& operator-=(complex b) { return *this = *this - b; }
  HD_SCALAR complex& operator*=(complex b) { return *this = *this * b; }
  HD_SCALAR complex& operator/=(complex b) { return *this = *this / b; }
};
template <class T>
HD_SCALAR heddle_scalar::complex<T> carried(complex<T> z) {
  return z.parts();
}
// These names would otherwise hide the functions of real numbers.
using ::abs;
#ifndef HD_USER_MATH
using ::cos, ::cosh, ::exp, ::log, ::log10, ::pow, ::sin, ::sinh, ::sqrt, ::tan, ::tanh;
#endif
template <class T>
HD_SCALAR T real(complex<T> z) {
  return z.re;
}
template <class T>
HD_SCALAR T imag(complex<T> z) {
  return z.im;
}
template <class T>
HD_SCALAR complex<T> conj(complex<T> z) {
  return {z.re, -z.im};
}
template <class T>
HD_SCALAR T abs(complex<T> z) {
  return heddle_scalar::absolute(z.parts());
}
template <class T>
HD_SCALAR T norm(complex<T> z) {
  return z.re * z.re + z.im * z.im;
}
template <class T>
HD_SCALAR T arg(complex<T> z) {
  return heddle_scalar::arctan2(z.im, z.re);
}
template <class T>
HD_SCALAR complex<T> polar(T size, T angle) {
  return {size * cos(angle), size * sin(angle)};
}
template <class T>
HD_SCALAR complex<T> pow(complex<T> base, complex<T> exponent) {
  return heddle_scalar::power(base.parts(), exponent.parts());
}
template <class T, class Real>
HD_SCALAR complex<T> pow(complex<T> base, Real exponent) {
  return pow(base, complex<T>(static_cast<T>(exponent)));
}
#define HD_USER_COMPLEX(name)               \
  template <class T>                        \
  HD_SCALAR complex<T> name(complex<T> z) { \
    return heddle_scalar::name(z.parts());  \
  }
HD_USER_COMPLEX(cos)
HD_USER_COMPLEX(cosh)
HD_USER_COMPLEX(exp)
HD_USER_COMPLEX(log)
HD_USER_COMPLEX(log10)
HD_USER_COMPLEX(sin)
HD_USER_COMPLEX(sinh)
HD_USER_COMPLEX(sqrt)
HD_USER_COMPLEX(tan)
HD_USER_COMPLEX(tanh)
#undef HD_USER_COMPLEX
}  // namespace heddle_user

//! section user_elements needs user_functions memory
namespace heddle_user {
template <class T, class Stored>
HD_SCALAR T raw_element(const Stored* elements, ptrdiff_t i) {
  return FromMemory<T>::of(load(elements, i));
}
template <class Stored>
HD_SCALAR Stored& raw_reference(Stored* elements, ptrdiff_t i) {
  return element(elements, i);
}
}  // namespace heddle_user

//! section user_elements_host needs user_functions
//! host
namespace heddle_user {
template <class T, class Stored>
HD_SCALAR T raw_element(const Stored* elements, ptrdiff_t i) {
  return FromMemory<T>::of(elements[i]);
}
template <class Stored>
HD_SCALAR Stored& raw_reference(Stored* elements, ptrdiff_t i) {
  return elements[i];
}
}  // namespace heddle_user

//! section user_shapes needs user_functions
namespace heddle_user {
// Of an array of which a function reads or writes elements itself, by their number in C order or by
// indices.
template <int Rank>
struct ArrayShape {
  static constexpr int ndim = Rank;
  ptrdiff_t extents[Rank > 0 ? Rank : 1];
  ptrdiff_t byte_strides[Rank > 0 ? Rank : 1];
  HD_SCALAR ptrdiff_t size() const {
    ptrdiff_t count = 1;
    for (int axis = 0; axis < Rank; ++axis) count *= extents[axis];
    return count;
  }
  HD_SCALAR const ptrdiff_t* shape() const { return extents; }
  HD_SCALAR const ptrdiff_t* strides() const { return byte_strides; }
  template <int Count>
  HD_SCALAR ptrdiff_t number(const ptrdiff_t (&indices)[Count]) const {
    static_assert(Count == Rank, "an index for each axis of the array");
    ptrdiff_t i = 0;
    for (int axis = 0; axis < Rank; ++axis) i = i * extents[axis] + indices[axis];
    return i;
  }
};
template <class... Extents>
HD_SCALAR ArrayShape<sizeof...(Extents)> array_shape(int element, Extents... extents) {
  constexpr int rank = sizeof...(Extents);
  ArrayShape<rank> made{{static_cast<ptrdiff_t>(extents)...}, {}};
  ptrdiff_t stride = element;
  for (int axis = rank; axis-- > 0;) {
    made.byte_strides[axis] = stride;
    stride *= made.extents[axis];
  }
  return made;
}
}  // namespace heddle_user

//! section user_arrays needs user_shapes
namespace heddle_user {
template <class T, class Stored, int Rank>
struct RawArray : ArrayShape<Rank> {
  const Stored* elements;
  HD_SCALAR RawArray(ArrayShape<Rank> shape, const Stored* p)
      : ArrayShape<Rank>(shape), elements(p) {}
  HD_SCALAR T operator[](ptrdiff_t i) const { return raw_element<T>(elements, i); }
  template <int Count>
  HD_SCALAR T operator[](const ptrdiff_t (&indices)[Count]) const {
    return raw_element<T>(elements, this->number(indices));
  }
};
template <class T, class Stored, class... Extents>
HD_SCALAR RawArray<T, Stored, sizeof...(Extents)> raw_array(const Stored* p, Extents... extents) {
  return {array_shape(sizeof(Stored), extents...), p};
}
}  // namespace heddle_user

//! section user_targets needs user_shapes
namespace heddle_user {
template <class T, class Stored, int Rank>
struct RawTarget : ArrayShape<Rank> {
  Stored* elements;
  using Reference = typename InMemory<T, Stored>::Reference;
  HD_SCALAR RawTarget(ArrayShape<Rank> shape, Stored* p) : ArrayShape<Rank>(shape), elements(p) {}
  HD_SCALAR Reference operator[](ptrdiff_t i) const {
    return InMemory<T, Stored>::of(raw_reference(elements, i));
  }
  template <int Count>
  HD_SCALAR Reference operator[](const ptrdiff_t (&indices)[Count]) const {
    return InMemory<T, Stored>::of(raw_reference(elements, this->number(indices)));
  }
};
template <class T, class Stored, class... Extents>
HD_SCALAR RawTarget<T, Stored, sizeof...(Extents)> raw_target(Stored* p, Extents... extents) {
  return {array_shape(sizeof(Stored), extents...), p};
}
}  // namespace heddle_user
