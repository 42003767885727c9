#pragma once
//! section order needs limits
// The order of sorted arrays: ascending, NaN behind all numbers, zeros of either sign equal.
namespace heddle_scalar {
template <class T>
HD_SCALAR bool precedes(T a, T b) {
  const auto x = widen(a);
  const auto y = widen(b);
  if constexpr (is_complex<T>) {
    // By real parts, then by imaginary ones; what has a NaN in either is behind all numbers, and
    // where the real one is, last.
    const bool a_ends = x.im != x.im;
    const bool b_ends = y.im != y.im;
    if (x.re < y.re) return !a_ends || b_ends;
    if (x.re > y.re) return !a_ends && b_ends;
    if (x.re == y.re || (x.re != x.re && y.re != y.re)) return x.im < y.im || (!a_ends && b_ends);
    return y.re != y.re;
  } else if constexpr (is_float<T> || is_soft<T>) {
    return x < y || (x == x && y != y);
  } else {
    return x < y;
  }
}
// A value that none comes after.
template <class T>
HD_SCALAR T last_in_order() {
  if constexpr (is_complex<T>) {
    return T(last_in_order<typename T::Part>(), last_in_order<typename T::Part>());
  } else if constexpr (is_same<T, double>) {
    return float_of(0x7ff8000000000000ull);
  } else if constexpr (is_float<T> || is_soft<T>) {
    return narrow<T>(float_of(0x7fc00000u));
  } else {
    return greatest<T>();
  }
}
}  // namespace heddle_scalar

//! section search needs order
namespace heddle_scalar {
// How many of n sorted elements, read by load(i), come before the value or, `Right`, not after it.
template <bool Right, class T, class Load>
HD_SCALAR long long search_sorted(long long n, T value, Load load) {
  long long low = 0;
  long long high = n;
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    const T element = load(middle);
    const bool before = Right ? !precedes(value, element) : precedes(element, value);
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}
}  // namespace heddle_scalar

//! section radix needs order
namespace heddle_scalar {
template <int Bytes>
struct KeyBits {
  using Type = unsigned int;
};
template <>
struct KeyBits<1> {
  using Type = unsigned char;
};
template <>
struct KeyBits<2> {
  using Type = unsigned short;
};
template <>
struct KeyBits<8> {
  using Type = unsigned long long;
};
// A number as wide as T that grows as T comes later in order, and is the same for what is equal.
template <class T>
HD_SCALAR auto key_bits(T x) {
  using Bits = typename KeyBits<sizeof(T)>::Type;
  constexpr Bits top = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));
  if constexpr (is_float<T> || is_soft<T>) {
    const auto wide = widen(x);
    if (wide != wide) return static_cast<Bits>(~Bits(0));
    if (wide == 0) return top;
    Bits bits;
    if constexpr (is_soft<T>) {
      bits = static_cast<Bits>(x.bits);
    } else {
      bits = bits_of(x);
    }
    return static_cast<Bits>((bits & top) != 0 ? ~bits : bits | top);
  } else if constexpr (is_integer<T>) {
    return static_cast<Bits>(is_signed<T> ? static_cast<Bits>(x) ^ top : static_cast<Bits>(x));
  } else {
    return static_cast<Bits>(x ? 1 : 0);
  }
}
}  // namespace heddle_scalar
