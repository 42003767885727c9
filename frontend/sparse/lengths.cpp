#include "frontend/sparse/lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/reductions.h"

namespace heddle::sparse::linalg {

namespace {

Array sum_of_squares(const Array& x) { return sum(real(x * conj(x))); }

/// Of float64 and complex128. The elements are multiplied by a large number, and for the case that
/// this overflows by a small one: what vanishes then is too small to count beside what overflows.
Array scaled_length(const Array& x) {
  constexpr double scale = 0x1p490;
  const Array raised = sum_of_squares(x * scale), lowered = sum_of_squares(x * (1 / scale));
  const Array fits = raised < std::numeric_limits<double>::infinity();
  return where(fits, sqrt(raised) * (1 / scale), sqrt(lowered) * scale);
}

/// Infinite where an element is.
Array greatest_of(const Array& x) { return max(maximum(abs(real(x)), abs(imag(x)))); }

}  // namespace

Array length(const Array& x) {
  const DType real_dtype = finfo(x.dtype()).dtype;
  if (real_dtype == DType::f64) return scaled_length(x);
  // The squares of the other dtypes are in the range of float64.
  return sqrt(sum_of_squares(x.astype(is_complex(x.dtype()) ? DType::c128 : DType::f64)))
      .astype(real_dtype);
}

Array unit_of(const Array& x, const Array& y, bool always) {
  const FloatInfo info = finfo(x.dtype());
  const Array one = ones({}, info.dtype);
  if (x.size() == 0) return one;
  const Array greatest = maximum(greatest_of(x), greatest_of(y));
  // The exponents of lengths whose squares, times eps^2, are in range.
  const int most = always ? 0 : std::max(std::ilogb(info.max) / 2 + std::ilogb(info.eps), 0);
  const auto [mantissa, exponent] = frexp(greatest);
  const Array far = (greatest > 0) & isfinite(greatest) & (abs(exponent) > most);
  return where(far, greatest / (2.0 * where(far, mantissa, one)), one);
}

}  // namespace heddle::sparse::linalg
