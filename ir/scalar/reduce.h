#pragma once
//! section reduce_sum needs core
//! defines sum
namespace heddle_scalar::reduce {
template <class T>
struct sum {
  // Wider than 8 and 16 bits: GCC 12 counts comparisons that are summed in those as -1.
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
// The least and greatest value of T, infinities included.
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

//! section reduce_min needs limits maximum
//! defines min
namespace heddle_scalar::reduce {
template <class T>
struct min {
  using State = decltype(widen(T()));
  using Result = T;
  static HD_SCALAR State identity() { return greatest<State>(); }
  static HD_SCALAR State lift(T value, long long) { return widen(value); }
  static HD_SCALAR State combine(State a, State b) { return minimum(a, b); }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s); }
};
}  // namespace heddle_scalar::reduce

//! section reduce_max needs limits maximum
//! defines max
namespace heddle_scalar::reduce {
template <class T>
struct max {
  using State = decltype(widen(T()));
  using Result = T;
  static HD_SCALAR State identity() { return least<State>(); }
  static HD_SCALAR State lift(T value, long long) { return widen(value); }
  static HD_SCALAR State combine(State a, State b) { return maximum(a, b); }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s); }
};
}  // namespace heddle_scalar::reduce

//! section reduce_any needs core
//! defines any all
namespace heddle_scalar::reduce {
template <class T>
struct any {
  using State = bool;
  using Result = bool;
  static HD_SCALAR State identity() { return false; }
  static HD_SCALAR State lift(T value, long long) { return truth(value); }
  static HD_SCALAR State combine(State a, State b) { return a | b; }
  static HD_SCALAR Result finish(State s) { return s; }
};
template <class T>
struct all {
  using State = bool;
  using Result = bool;
  static HD_SCALAR State identity() { return true; }
  static HD_SCALAR State lift(T value, long long) { return truth(value); }
  static HD_SCALAR State combine(State a, State b) { return a & b; }
  static HD_SCALAR Result finish(State s) { return s; }
};
}  // namespace heddle_scalar::reduce

//! section reduce_argmin needs limits
//! defines argmin argmax
namespace heddle_scalar::reduce {
template <class X>
struct Indexed {
  X value;
  long long index;
};
// The first NaN wins, else the first of the extreme values. The index decides between equals, so
// that elements may be combined in any order.
template <class T>
struct argmin {
  using State = Indexed<decltype(widen(T()))>;
  using Result = long long;
  static HD_SCALAR State identity() {
    return {greatest<decltype(State::value)>(), greatest<long long>()};
  }
  static HD_SCALAR State lift(T value, long long index) { return {widen(value), index}; }
  static HD_SCALAR State combine(State a, State b) {
    const bool a_nan = a.value != a.value;
    const bool b_nan = b.value != b.value;
    const bool tie = (a.value == b.value) | (a_nan & b_nan);
    const bool b_first = tie ? b.index < a.index : b_nan | (b.value < a.value);
    return b_first ? b : a;
  }
  static HD_SCALAR Result finish(State s) { return s.index; }
};
template <class T>
struct argmax {
  using State = Indexed<decltype(widen(T()))>;
  using Result = long long;
  static HD_SCALAR State identity() {
    return {least<decltype(State::value)>(), greatest<long long>()};
  }
  static HD_SCALAR State lift(T value, long long index) { return {widen(value), index}; }
  static HD_SCALAR State combine(State a, State b) {
    const bool a_nan = a.value != a.value;
    const bool b_nan = b.value != b.value;
    const bool tie = (a.value == b.value) | (a_nan & b_nan);
    const bool b_first = tie ? b.index < a.index : b_nan | (b.value > a.value);
    return b_first ? b : a;
  }
  static HD_SCALAR Result finish(State s) { return s.index; }
};
}  // namespace heddle_scalar::reduce
