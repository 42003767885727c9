#pragma once
//! section bitwise needs distinct
//! defines bitwise_and bitwise_or bitwise_xor invert
namespace heddle_scalar {
template <class T>
HD_SCALAR T bitwise_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
HD_SCALAR T bitwise_or(T a, T b) {
  if constexpr (is_same<T, bool>) return either(a, b);
  return static_cast<T>(a | b);
}
template <class T>
HD_SCALAR T bitwise_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
HD_SCALAR T invert(T x) {
  return static_cast<T>(~x);
}
HD_SCALAR bool invert(bool x) { return !x; }
}  // namespace heddle_scalar

//! section shift needs core
//! defines left_shift right_shift
namespace heddle_scalar {
// A shift by a negative count, or by the width or more, shifts out all bits.
template <class T>
HD_SCALAR T left_shift(T x, T count) {
  const bool fits = ring(count) < 8 * sizeof(T);
  return narrow<T>(fits ? ring(x) << (ring(count) & (8 * sizeof(ring(x)) - 1)) : 0);
}
template <class T>
HD_SCALAR T right_shift(T x, T count) {
  constexpr auto last = 8 * sizeof(T) - 1;
  const auto n = ring(count) < last ? static_cast<T>(count) : static_cast<T>(last);
  if constexpr (is_signed<T>) {
    return static_cast<T>(x >> n);
  } else {
    return ring(count) > last ? static_cast<T>(0) : static_cast<T>(x >> n);
  }
}
}  // namespace heddle_scalar

//! section bitwise_count needs core
//! defines bitwise_count
namespace heddle_scalar {
// The number of one bits in the absolute value. On the host, bits are added in pairs, fours and
// eights, because a popcount instruction would prevent vectorisation.
template <class T>
HD_SCALAR unsigned char bitwise_count(T x) {
  auto n = ring(x);
  using N = decltype(n);
  if constexpr (is_signed<T>) n = x < 0 ? -n : n;
#ifdef __CUDACC__
  if constexpr (sizeof(N) == 8) {
    return static_cast<unsigned char>(__popcll(n));
  } else {
    return static_cast<unsigned char>(__popc(n));
  }
#else
  constexpr N ones = static_cast<N>(0x0101010101010101ull);
  n -= (n >> 1) & (ones * 0x55);
  n = (n & (ones * 0x33)) + ((n >> 2) & (ones * 0x33));
  n = (n + (n >> 4)) & (ones * 0x0f);
  return static_cast<unsigned char>((n * ones) >> (8 * sizeof(N) - 8));
#endif
}
}  // namespace heddle_scalar
