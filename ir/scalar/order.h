#pragma once
//! section order needs limits
// The order of sorted arrays: ascending, NaN after all numbers, -0 equal to +0.
namespace heddle_scalar {
template <class T>
HD_SCALAR bool precedes(T a, T b) {
  const auto x = widen(a);
  const auto y = widen(b);
  if constexpr (is_complex<T>) {
    // By real parts, then by imaginary parts. Numbers with a NaN part come after all others; those
    // with a NaN real part come last.
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
// A value that no other value comes after.
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
// The number of the n sorted elements load(0) ... load(n - 1) that come before `value`; if `Right`,
// including those equal to it. Halves as NumPy does, so that it finds the same place in elements
// that are not sorted; the number of steps depends on n only, so that a loop over a constant n is
// unrolled.
template <bool Right, class Count, class T, class Load>
HD_SCALAR Count search_sorted(Count n, T value, Load load) {
  Count low = 0;
  Count high = n;
  for (Count left = n; left > 0; left /= 2) {
    const bool open = low < high;
    const Count middle = low + (high - low) / 2;
    const T element = load(open ? middle : 0);
    const bool before = open && (Right ? !precedes(value, element) : precedes(element, value));
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
// Sort keys: unsigned integers as wide as T that increase in sort order. value_of() is the inverse
// of key_of(). For floats, the keys of -infinity to infinity come first, without gaps, then those
// of NaN.
template <class T>
using Key = typename KeyBits<sizeof(T)>::Type;
template <class K>
constexpr K key_top = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
// All ones if the top bit is set, else 0.
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
// The bits of infinity; also the number of keys of values below zero.
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
// Gives equal keys to values that are equal in order: zeros of either sign, and all NaN, which get
// the greatest key.
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
