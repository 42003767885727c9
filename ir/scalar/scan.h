#pragma once
//! section scan_cumsum needs reduce_sum
//! defines cumsum
namespace heddle_scalar::scan {
// A reduction whose identity does not change the bits of other operands. `in_sequence`: combining
// one element after another is as accurate as combining in a tree.
template <class T>
struct cumsum : reduce::sum<T> {
  using State = typename reduce::sum<T>::State;
  static constexpr bool in_sequence = !is_float<State> && !is_complex<State>;
  static HD_SCALAR State identity() {
    if constexpr (is_complex<State>) {
      return State(-0.0f, -0.0f);
    } else {
      return static_cast<State>(-0.0f);
    }
  }
};
}  // namespace heddle_scalar::scan

//! section scan_cumprod needs reduce_prod
//! defines cumprod
namespace heddle_scalar::scan {
template <class T>
struct cumprod : reduce::prod<T> {
  static constexpr bool in_sequence = true;
};
}  // namespace heddle_scalar::scan

//! section scan_cummin needs reduce_min
//! defines cummin
namespace heddle_scalar::scan {
template <class T>
struct cummin : reduce::min<T> {
  static constexpr bool in_sequence = true;
};
}  // namespace heddle_scalar::scan

//! section scan_cummax needs reduce_max
//! defines cummax
namespace heddle_scalar::scan {
template <class T>
struct cummax : reduce::max<T> {
  static constexpr bool in_sequence = true;
};
}  // namespace heddle_scalar::scan

//! section scan_logcumsumexp needs limits maximum exp log
//! defines logcumsumexp
namespace heddle_scalar::scan {
// The logarithm of a sum of exponentials. The sum is stored relative to the exponential of the
// greatest element, so that it does not overflow.
template <class X>
struct Exponentials {
  X greatest, sum;
};
template <class T>
struct logcumsumexp {
  using X = decltype(widen(T()));
  using State = Exponentials<X>;
  using Result = T;
  static constexpr bool in_sequence = false;
  static HD_SCALAR State identity() { return {least<X>(), 0}; }
  static HD_SCALAR State lift(T value, long long) { return {widen(value), 1}; }
  static HD_SCALAR State combine(State a, State b) {
    const X greatest = maximum(a.greatest, b.greatest);
    // For equal infinities, the distance is NaN.
    const X scale =
        a.greatest == b.greatest ? X(1) : exp(minimum(a.greatest, b.greatest) - greatest);
    const bool a_first = a.greatest > b.greatest;
    return {greatest, a_first ? a.sum + b.sum * scale : a.sum * scale + b.sum};
  }
  static HD_SCALAR Result finish(State s) { return narrow<T>(s.greatest + log(s.sum)); }
};
}  // namespace heddle_scalar::scan

//! section scan_segmented needs core
namespace heddle_scalar::scan {
// The scan R, restarted at each element that is flagged. Elements before a restart are not combined
// with elements after it, so a segment is as accurate as a separate scan.
template <class R>
struct Segmented {
  struct State {
    typename R::State so_far;
    bool begins;
  };
  using Result = typename R::Result;
  static constexpr bool in_sequence = R::in_sequence;
  static HD_SCALAR State identity() { return {R::identity(), false}; }
  template <class T>
  static HD_SCALAR State lift(T value, bool begins, long long index) {
    return {R::lift(value, index), begins};
  }
  static HD_SCALAR State combine(State a, State b) {
    return {b.begins ? b.so_far : R::combine(a.so_far, b.so_far), (a.begins | b.begins) != 0};
  }
  static HD_SCALAR Result finish(State s) { return R::finish(s.so_far); }
};
}  // namespace heddle_scalar::scan

//! section scan_running needs core
namespace heddle_scalar::scan {
// Running scans of `Width` rows side by side. If accuracy requires a tree, it grows like a binary
// counter: each part_[d] combines 2^k elements, with different k, larger ones at smaller d;
// before_[d] combines all elements up to the end of part_[d].
template <class R, int Width = 1>
class Running {
 public:
  using State = typename R::State;

  // s holds the next element of each of the first `width` rows. Replaces them by the scans up to
  // them.
  HD_SCALAR void add(State* s, int width = Width) {
    if constexpr (R::in_sequence) {
      if (depth_ > 0) combine_with(before_[0], s, width);
      depth_ = 1;
      for (int k = 0; k < width; ++k) before_[0][k] = s[k];
    } else {
      for (unsigned long long carry = count_++; (carry & 1) != 0; carry >>= 1) {
        combine_with(part_[--depth_], s, width);
      }
      for (int k = 0; k < width; ++k) part_[depth_][k] = s[k];
      if (depth_ > 0) combine_with(before_[depth_ - 1], s, width);
      for (int k = 0; k < width; ++k) before_[depth_][k] = s[k];
      ++depth_;
    }
  }

  // s holds the next `Length` elements of the only row. Replaces them by the scans up to them.
  template <int Length>
  HD_SCALAR void add_run(State (&s)[Length]) {
    if constexpr (R::in_sequence) {
      State last = depth_ > 0 ? before_[0][0] : R::identity();
      for (int k = 0; k < Length; ++k) s[k] = last = R::combine(last, s[k]);
      before_[0][0] = last;
      depth_ = 1;
    } else {
      alignas(64) State shifted[Length];
      for (int step = 1; step < Length; step *= 2) {
        for (int k = step; k < Length; ++k) shifted[k] = s[k - step];
        for (int k = step; k < Length; ++k) s[k] = R::combine(shifted[k], s[k]);
      }
      State total = s[Length - 1];
      if (depth_ > 0) {
        const State last = before_[depth_ - 1][0];
        for (int k = 0; k < Length; ++k) s[k] = R::combine(last, s[k]);
      }
      add(&total);
    }
  }

 private:
  static HD_SCALAR void combine_with(const State* earlier, State* s, int width) {
    for (int k = 0; k < width; ++k) s[k] = R::combine(earlier[k], s[k]);
  }

  static constexpr int levels = R::in_sequence ? 1 : 62;
  alignas(64) State part_[levels][Width], before_[levels][Width];
  int depth_ = 0;
  unsigned long long count_ = 0;
};
}  // namespace heddle_scalar::scan
