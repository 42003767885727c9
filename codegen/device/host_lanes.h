#pragma once
//! section host_lanes
//! host
// Values of neighbouring elements, in arrays that the compiler can take into vectors. It cannot do
// that with arrays of bool or of structs.
template <class T, int count>
struct Lanes {
  T values[count];
  T get(long long i) const { return values[i]; }
  void set(long long i, T value) { values[i] = value; }
};
template <int count>
struct Lanes<bool, count> {
  unsigned char values[count];
  bool get(long long i) const { return values[i] != 0; }
  void set(long long i, bool value) { values[i] = value ? 1 : 0; }
};

//! section host_complex_lanes needs host_lanes complex
//! host
template <class T, int count>
struct Lanes<heddle_scalar::complex<T>, count> {
  T re[count], im[count];
  heddle_scalar::complex<T> get(long long i) const { return {re[i], im[i]}; }
  void set(long long i, heddle_scalar::complex<T> value) {
    re[i] = value.re;
    im[i] = value.im;
  }
};
