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
// Keys are numbers as wide as T that grow as T comes later in order; value_of() takes them back.
// Of floats those of -infinity to infinity come first, without a gap, and NaN follow.
template <class T>
using Key = typename KeyBits<sizeof(T)>::Type;
template <class K>
constexpr K key_top = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
// 0 where the top bit is not set, else all ones.
template <class K>
HD_SCALAR K top_spread(K key) {
  return static_cast<K>(0 - (key >> (8 * sizeof(K) - 1)));
}
template <class T>
HD_SCALAR Key<T> float_bits(T x) {
  if constexpr (is_soft<T>) {
    return x.bits;
  } else {
    return bits_of(x);
  }
}
// The bits of infinity: that many keys have the numbers below zero.
template <class T>
constexpr Key<T> infinity_bits() {
  int mantissa_bits = sizeof(T) == 8 ? 52 : 23;
  if constexpr (is_soft<T>) mantissa_bits = T::mantissa_bits;
  return static_cast<Key<T>>(key_top<Key<T>> - (Key<T>(1) << mantissa_bits));
}
template <class T>
HD_SCALAR Key<T> key_of(T x) {
  using K = Key<T>;
  constexpr K top = key_top<K>;
  if constexpr (is_float<T> || is_soft<T>) {
    const K bits = float_bits(x);
    const K ascending = static_cast<K>(bits ^ (top_spread(bits) | top));
    return static_cast<K>(ascending - (top - infinity_bits<T>() - 1));
  } else if constexpr (is_integer<T>) {
    return static_cast<K>(is_signed<T> ? static_cast<K>(x) ^ top : static_cast<K>(x));
  } else {
    return static_cast<K>(x ? 1 : 0);
  }
}
template <class T>
HD_SCALAR T value_of(Key<T> key) {
  using K = Key<T>;
  constexpr K top = key_top<K>;
  if constexpr (is_float<T> || is_soft<T>) {
    const K ascending = static_cast<K>(key + (top - infinity_bits<T>() - 1));
    const K bits = static_cast<K>(ascending ^ (static_cast<K>(~top_spread(ascending)) | top));
    if constexpr (is_soft<T>) {
      return T{bits};
    } else {
      return float_of(bits);
    }
  } else if constexpr (is_integer<T>) {
    return static_cast<T>(is_signed<T> ? static_cast<K>(key ^ top) : key);
  } else {
    return key != 0;
  }
}
// Keys of what is equal in order made the same: those of zeros of either sign, and of
// NaN, which have the greatest.
template <class T>
HD_SCALAR Key<T> canonical_key(Key<T> key) {
  if constexpr (is_float<T> || is_soft<T>) {
    using K = Key<T>;
    const K minus_zero = infinity_bits<T>();
    const K nan = static_cast<K>(2 * minus_zero + 2);
    const K number = static_cast<K>(key + (key == minus_zero ? 1 : 0));
    return number < nan ? number : static_cast<K>(~K(0));
  } else {
    return key;
  }
}
}  // namespace heddle_scalar
