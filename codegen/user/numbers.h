#pragma once
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
  complex() = default;  // without a value, so that it may be in shared memory
  HD_SCALAR complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
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
