#pragma once
//! section reduce_sum needs core
//! defines sum
namespace heddle_scalar::reduce {
template <class T>
struct sum {
  // Wider than 8 or 16 bits: in those, GCC 12 counts summed comparisons as -1.
  using State = decltype(ring(T()));
  using Result = T;
  static HD_SCALAR State identity() { return static_cast<State>(0); }
  static HD_SCALAR State lift(T value, long long) { return ring(value); }
  static HD_SCALAR State combine(State a, State b) { return a + b; }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s); }
};
}  // namespace heddle_scalar::reduce

//! section reduce_prod needs core
//! defines prod
namespace heddle_scalar::reduce {
template <class T>
struct prod {
  using State = decltype(ring(T()));
  using Result = T;
  static HD_SCALAR State identity() { return static_cast<State>(1); }
  static HD_SCALAR State lift(T value, long long) { return ring(value); }
  static HD_SCALAR State combine(State a, State b) { return a * b; }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s); }
};
}  // namespace heddle_scalar::reduce

//! section limits needs bits
namespace heddle_scalar {
// The smallest and greatest value of T, including infinities.
template <class T>
HD_SCALAR T greatest() {
  if constexpr (is_same<T, float>) {
    return float_of(0x7f800000u);
  } else if constexpr (is_same<T, double>) {
    return float_of(0x7ff0000000000000ull);
  } else if constexpr (is_complex<T>) {
    return T(greatest<typename T::Part>(), greatest<typename T::Part>());
  } else if constexpr (is_same<T, bool>) {
    return true;
  } else {
    return static_cast<T>(~0ull >> (64 - 8 * sizeof(T) + (is_signed<T> ? 1 : 0)));
  }
}
template <class T>
HD_SCALAR T least() {
  if constexpr (is_float<T> || is_complex<T>) {
    return -greatest<T>();
  } else if constexpr (is_same<T, bool>) {
    return false;
  } else {
    return static_cast<T>(~ring(greatest<T>()) & (is_signed<T> ? ~0ull : 0ull));
  }
}
}  // namespace heddle_scalar

//! section rank needs limits
#ifndef __CUDACC__
// Integers in the same order as the numbers x, so that the minimum or maximum of a vector is one
// instruction. NaN comes last or first, and -0 before +0. Not available for complex numbers.
namespace heddle_scalar {
template <class Bits>
HD_SCALAR Bits turn_negative(Bits x, Bits magnitude) {
  return x ^ ((x >> (8 * sizeof(Bits) - 1)) & magnitude);
}
template <bool NaNLast, class T>
HD_SCALAR auto rank(T x) {
  if constexpr (is_same<T, bool>) {
    return static_cast<unsigned char>(x ? 1 : 0);
  } else if constexpr (is_soft<T>) {
    constexpr int infinity = 0x7fff >> T::mantissa_bits << T::mantissa_bits;
    const int bits = static_cast<short>(x.bits);
    const int rank = turn_negative(bits, 0x7fff);
    return (bits & 0x7fff) > infinity ? (NaNLast ? 0x7fff : -0x8000) : rank;
  } else if constexpr (is_same<T, float>) {
    const int rank = turn_negative(static_cast<int>(bits_of(x)), 0x7fffffff);
    return x != x ? (NaNLast ? 0x7fc00000 : ~0x7fc00000) : rank;
  } else if constexpr (is_same<T, double>) {
    const long long rank = turn_negative(static_cast<long long>(bits_of(x)), 0x7fffffffffffffffll);
    return x != x ? (NaNLast ? 0x7ff8000000000000ll : ~0x7ff8000000000000ll) : rank;
  } else {
    return x;
  }
}
template <class T, class Rank>
HD_SCALAR T of_rank(Rank rank) {
  if constexpr (is_soft<T>) {
    return T{static_cast<unsigned short>(turn_negative(rank, 0x7fff))};
  } else if constexpr (is_same<T, float>) {
    return float_of(static_cast<unsigned int>(turn_negative(rank, 0x7fffffff)));
  } else if constexpr (is_same<T, double>) {
    return float_of(static_cast<unsigned long long>(turn_negative(rank, 0x7fffffffffffffffll)));
  } else {
    return static_cast<T>(rank);
  }
}
}  // namespace heddle_scalar
#endif

//! section reduce_min needs limits rank maximum
//! defines min
namespace heddle_scalar::reduce {
template <class T>
struct min {
  using Result = T;
#ifdef __CUDACC__
  using State = decltype(widen(T()));
  static HD_SCALAR State identity() { return greatest<State>(); }
  static HD_SCALAR State lift(T value, long long) { return widen(value); }
  static HD_SCALAR State combine(State a, State b) { return minimum(a, b); }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s); }
#else
  using State = decltype(rank<false>(T()));
  static HD_SCALAR State identity() {
    return rank<false>(narrow<T>(greatest<decltype(widen(T()))>()));
  }
  static HD_SCALAR State lift(T value, long long) { return rank<false>(value); }
  static HD_SCALAR State combine(State a, State b) { return minimum(a, b); }
  static HD_SCALAR Result finish(State s) { return of_rank<T>(s); }
#endif
};
}  // namespace heddle_scalar::reduce

//! section reduce_max needs limits rank maximum
//! defines max
namespace heddle_scalar::reduce {
template <class T>
struct max {
  using Result = T;
#ifdef __CUDACC__
  using State = decltype(widen(T()));
  static HD_SCALAR State identity() { return least<State>(); }
  static HD_SCALAR State lift(T value, long long) { return widen(value); }
  static HD_SCALAR State combine(State a, State b) { return maximum(a, b); }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s); }
#else
  using State = decltype(rank<true>(T()));
  static HD_SCALAR State identity() { return rank<true>(narrow<T>(least<decltype(widen(T()))>())); }
  static HD_SCALAR State lift(T value, long long) { return rank<true>(value); }
  static HD_SCALAR State combine(State a, State b) { return maximum(a, b); }
  static HD_SCALAR Result finish(State s) { return of_rank<T>(s); }
#endif
};
}  // namespace heddle_scalar::reduce

//! section reduce_any needs core
//! defines any all
namespace heddle_scalar::reduce {
// The states are 0 and 1 in a byte, because GCC does not vectorise loops over bool.
template <class T>
struct any {
  using State = unsigned char;
  using Result = bool;
  static HD_SCALAR State identity() { return 0; }
  static HD_SCALAR State lift(T value, long long) { return truth(value) ? 1 : 0; }
  static HD_SCALAR State combine(State a, State b) { return static_cast<State>(a | b); }
  static HD_SCALAR Result finish(State s) { return s != 0; }
};
template <class T>
struct all {
  using State = unsigned char;
  using Result = bool;
  static HD_SCALAR State identity() { return 1; }
  static HD_SCALAR State lift(T value, long long) { return truth(value) ? 1 : 0; }
  static HD_SCALAR State combine(State a, State b) { return static_cast<State>(a & b); }
  static HD_SCALAR Result finish(State s) { return s != 0; }
};
}  // namespace heddle_scalar::reduce

//! section reduce_argmin needs limits rank
//! defines argmin argmax
namespace heddle_scalar::reduce {
template <class X, class Place = long long>
struct Indexed {
  X value;
  Place index;
};
#ifdef __CUDACC__
template <bool Greatest, class T>
HD_SCALAR auto arg_key(T value) {
  return widen(value);
}
#else
// Zeros of either sign have equal keys.
template <bool Greatest, class T>
HD_SCALAR auto arg_key(T value) {
  if constexpr (is_float<T>) {
    return rank<Greatest>(value == 0 ? static_cast<T>(0) : value);  // x + 0 may become an fma
  } else if constexpr (is_soft<T>) {
    const bool zero = (value.bits & 0x7fff) == 0;
    return rank<Greatest>(T{static_cast<unsigned short>(zero ? 0 : value.bits)});
  } else {
    return rank<Greatest>(value);
  }
}
#endif
// The first NaN wins, or else the first of the extreme values. Equal values are ordered by index,
// so that elements may be combined in any order. Place is an integer type that can hold every
// index.
template <class T, bool Greatest, class Place>
struct arg {
  using Key = decltype(arg_key<Greatest>(T()));
  using State = Indexed<Key, Place>;
  using Result = long long;
  static constexpr bool greatest_wins = Greatest;
  static HD_SCALAR Key key(T value) { return arg_key<Greatest>(value); }
  static HD_SCALAR bool precedes(Key a, Key b) { return Greatest ? a > b : a < b; }
  static HD_SCALAR Key last_key() { return Greatest ? least<Key>() : greatest<Key>(); }
  static HD_SCALAR State identity() { return {last_key(), greatest<Place>()}; }
  static HD_SCALAR State lift(T value, long long index) {
    return {key(value), static_cast<Place>(index)};
  }
  static HD_SCALAR State combine(State a, State b) {
    const bool a_nan = a.value != a.value;
    const bool b_nan = b.value != b.value;
    const bool tie = (a.value == b.value) | (a_nan & b_nan);
    const bool b_first = tie ? b.index < a.index : b_nan | precedes(b.value, a.value);
    return b_first ? b : a;
  }
  // The state of one thread that visits elements in order, starting with the one at `first`.
  template <class Index>
  static HD_SCALAR Indexed<Key, Index> start_pass(Index first) {
    return {last_key(), first};
  }
  template <class Index>
  static HD_SCALAR Indexed<Key, Index> next(Indexed<Key, Index> a, T value, Index index) {
    const Key b = key(value);
    bool beats;
    if constexpr (is_complex<Key>) {
      beats = (b != b) | precedes(b, a.value);
    } else {
      beats = !(Greatest ? b <= a.value : b >= a.value);
    }
    const bool better = (a.value == a.value) & beats;
    return {better ? b : a.value, better ? index : a.index};
  }
  template <class Index>
  static HD_SCALAR State walked(Indexed<Key, Index> a, bool any) {
    return any ? State{a.value, static_cast<Place>(a.index)} : identity();
  }
  static HD_SCALAR Result finish(State s) { return s.index; }
};
template <class T, class Place = long long>
struct argmin : arg<T, false, Place> {};
template <class T, class Place = long long>
struct argmax : arg<T, true, Place> {};
}  // namespace heddle_scalar::reduce

//! section first_extremum needs reduce_argmin
namespace heddle_scalar::reduce {
// The values that the loops below compare: floats themselves, with NaN tracked separately; for
// other types, keys.
template <class R, class T>
HD_SCALAR auto compared(T value) {
  if constexpr (is_float<T>) {
    return value;
  } else {
    return R::key(value);
  }
}
template <class R, class X>
HD_SCALAR typename R::Key key_of(X x) {
  if constexpr (is_float<X>) {
    return R::key(x);
  } else {
    return x;
  }
}
// The extreme key of at(0) ... at(count - 1). `count` is at least `lanes`; the last `lanes`
// elements may overlap earlier ones.
template <class R, int lanes, class At>
HD_SCALAR typename R::Key extremum_key(int count, At at) {
  using X = decltype(at(0));
  alignas(64) X best[lanes];
  alignas(64) typename R::Key nan[lanes];  // 0 in lanes that have seen no NaN
  for (int k = 0; k < lanes; ++k) best[k] = at(k);
  for (int k = 0; k < lanes; ++k) nan[k] = 0;
  const auto step = [&](int first) __attribute__((always_inline)) {
    for (int k = 0; k < lanes; ++k) {
      const X next = at(first + k);
      best[k] = (R::greatest_wins ? next > best[k] : next < best[k]) ? next : best[k];
      if constexpr (is_float<X>) nan[k] |= next != next ? -1 : 0;
    }
  };
  int first = 0;
  for (; first + lanes <= count; first += lanes) step(first);
  if (first < count) step(count - lanes);
  typename R::Key extreme = R::last_key(), any_nan = 0;
  for (int k = 0; k < lanes; ++k) {
    const typename R::Key next = key_of<R>(best[k]);
    extreme = R::precedes(next, extreme) ? next : extreme;
  }
  if constexpr (is_float<X>) {
    for (int k = 0; k < lanes; ++k) any_nan |= nan[k];
    if (any_nan != 0) return R::key(greatest<X>() - greatest<X>());
  }
  return extreme;
}
// The smallest i in [0, count) for which matches(i). There must be one, and `count` must be at
// least 32.
template <class Matches>
HD_SCALAR int first_match(int count, Matches matches) {
  constexpr int coarse = 128, lanes = 32;
  int first = 0;
  for (; first + coarse <= count; first += coarse) {
    int any = 0;
    for (int k = 0; k < coarse; ++k) any |= matches(first + k) ? -1 : 0;
    if (any != 0) break;
  }
  const auto place_from = [&](int from) __attribute__((always_inline)) {
    int place = lanes;
    for (int k = 0; k < lanes; ++k) {
      const int here = matches(from + k) ? k : lanes;
      place = here < place ? here : place;
    }
    return place;
  };
  for (; first + lanes <= count; first += lanes) {
    const int place = place_from(first);
    if (place < lanes) return first + place;
  }
  return count - lanes + place_from(count - lanes);
}
template <class R, class At>
HD_SCALAR int first_index(int count, typename R::Key extreme, At at) {
  using X = decltype(at(0));
  if constexpr (is_float<X>) {
    const X wanted = of_rank<X>(extreme);
    if (wanted != wanted) {
      return first_match(count,
                         [&](int i) __attribute__((always_inline)) { return at(i) != at(i); });
    }
    return first_match(count,
                       [&](int i) __attribute__((always_inline)) { return at(i) == wanted; });
  } else {
    return first_match(count,
                       [&](int i) __attribute__((always_inline)) { return at(i) == extreme; });
  }
}
// Updates `found` with the elements value(first) ... value(stop - 1), whose indices are begin + i.
// Each block is first reduced to its extreme key; its index is searched only if that key precedes
// `found`. If not `plain`, values are computed once and stored: computing them is slow, and in
// another loop the result may differ, because a vectorised exp is not always equal to the scalar
// one.
template <class R, bool plain, class ValueAt>
HD_SCALAR typename R::State first_extremum(typename R::State found, long long first, long long stop,
                                           long long begin, ValueAt value) {
  using Key = typename R::Key;
  using X = decltype(compared<R>(value(first)));
  constexpr int lanes = sizeof(Key) == 1 ? 64 : 32;
  constexpr int block = 8192 / sizeof(Key);
  alignas(64) X kept[plain ? 1 : block];
  long long at = first;
  while (stop - at >= lanes) {
    int count = static_cast<int>(stop - at < block ? stop - at : block);
    asm("" : "+r"(count));  // GCC 12 keeps lanes in memory if it knows that this is even
    if constexpr (!plain) {
      for (int i = 0; i < count; ++i) kept[i] = compared<R>(value(at + i));
    }
    const auto here = [&](int i) __attribute__((always_inline)) {
      if constexpr (plain) {
        return compared<R>(value(at + i));
      } else {
        return kept[i];
      }
    };
    const Key extreme = extremum_key<R, lanes>(count, here);
    if (found.index == greatest<long long>() || R::precedes(extreme, found.value))
      found = {extreme, begin + at + first_index<R>(count, extreme, here)};
    at += count;
  }
  for (; at < stop; ++at) {
    const Key next = R::key(value(at));
    if (found.index == greatest<long long>() || R::precedes(next, found.value))
      found = {next, begin + at};
  }
  return found;
}
}  // namespace heddle_scalar::reduce
