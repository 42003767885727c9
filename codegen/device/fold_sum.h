//! section fold_sum
// Compensated summation of long sums (Kahan). A thread adds a few elements to `part` and then folds
// that into a total. The rounding error of the total stays in `part` and is carried on. All folds
// of a sum together are as accurate as two additions. No operand is a product, so contraction has
// no effect.
template <class State>
__device__ __forceinline__ void fold_sum(State& total, State& part) {
  const State sum = total + part;
  const State lost = part - (sum - total);
  part = lost - lost == 0 ? lost : 0;  // no error to carry for infinities and NaN
  total = sum;
}
template <template <class> class Complex, class Part>
__device__ __forceinline__ void fold_sum(Complex<Part>& total, Complex<Part>& part) {
  fold_sum(total.re, part.re);
  fold_sum(total.im, part.im);
}

// Each of the W columns has its own total.
template <class State, int W>
__device__ __forceinline__ void fold_sums(State (&totals)[W], State (&parts)[W]) {
#pragma unroll
  for (int k = 0; k < W; ++k) fold_sum(totals[k], parts[k]);
}

// The W lanes of a row share one total.
template <class State, int W>
__device__ __forceinline__ void fold_lanes(State& total, State (&parts)[W]) {
#pragma unroll
  for (int k = 1; k < W; ++k) {
    parts[0] = parts[0] + parts[k];
    parts[k] = State(0);
  }
  fold_sum(total, parts[0]);
}

//! section add_sum
// Summation of medium length. A thread adds a few elements to `part` and then that to a total; both
// sums are short enough to need no compensation.
template <class State, int W>
__device__ __forceinline__ void add_sums(State (&totals)[W], State (&parts)[W]) {
#pragma unroll
  for (int k = 0; k < W; ++k) {
    totals[k] = totals[k] + parts[k];
    parts[k] = State(0);
  }
}

// The W lanes of a row share one total.
template <class State, int W>
__device__ __forceinline__ void add_lanes(State& total, State (&parts)[W]) {
#pragma unroll
  for (int k = 1; k < W; ++k) {
    parts[0] = parts[0] + parts[k];
    parts[k] = State(0);
  }
  total = total + parts[0];
  parts[0] = State(0);
}
