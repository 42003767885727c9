#pragma once
//! section exp_sum needs core limits bits exp
// The sum of exp(x - reference) in one pass over the elements x. The reference follows the greatest
// element so far at a distance of at most `reach`, so that no exponential overflows and the sum is
// rarely scaled. It is finite, so that infinite elements give what exp(x - greatest) gives. If
// compensated, the sum carries its rounding error, as in fold_sum.
namespace heddle_scalar::reduce {
template <class T, bool Compensated>
struct exp_sum {
  struct State {
    T reference, sum, lost;
  };
  using Result = T;
  static constexpr T reach = 8;

  static HD_SCALAR T largest() {
    if constexpr (is_same<T, float>) {
      return float_of(0x7f7fffffu);
    } else {
      return float_of(0x7fefffffffffffffull);
    }
  }
  static HD_SCALAR State identity() { return {-largest(), 0, 0}; }
  static HD_SCALAR State rescaled(State a, T reference) {
    const T scale = exp(a.reference - reference);
    return {reference, a.sum * scale, a.lost * scale};
  }
  static HD_SCALAR State next(State a, T x) {
    if (x > a.reference + reach) a = rescaled(a, x < largest() ? x : largest());
    const T term = exp(x - a.reference);
    if constexpr (!Compensated) return {a.reference, a.sum + term, 0};
    const T part = term + a.lost;
    const T sum = a.sum + part;
    const T lost = part - (sum - a.sum);
    return {a.reference, sum, lost - lost == 0 ? lost : 0};
  }
  static HD_SCALAR State combine(State a, State b) {
    const T reference = a.reference < b.reference ? b.reference : a.reference;
    return {reference, finish(rescaled(a, reference)) + finish(rescaled(b, reference)), 0};
  }
  static HD_SCALAR Result finish(State s) { return s.sum + s.lost; }
  static HD_SCALAR Result reference(State s) { return s.reference; }
};
}  // namespace heddle_scalar::reduce
