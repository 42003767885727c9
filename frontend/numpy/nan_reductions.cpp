#include <cmath>
#include <complex>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::AtLocation;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The elements that count: not NaN, and true in the mask. Holds no value if all elements count.
Array numbers(const Operand& x, const Array& mask) {
  if (!is_inexact(frontend::node_of("isnan", x)->dtype)) return mask;
  const AtLocation here(x);
  const Array valid = logical_not(here(isnan(x)));
  return mask.has_value() ? logical_and(here(valid), here(mask)) : valid;
}

bool is_nan(const Scalar& scalar) {
  return scalar.is_inexact() && (std::isnan(scalar.floating) || std::isnan(scalar.imaginary));
}

using Extremum = Array (*)(const Operand&, const Axes&, bool, std::optional<Scalar>, const Array&);

/// `neutral` is the value that never wins against a number.
Array nan_extremum(Extremum extremum, double neutral, const Operand& x, const Axes& axes,
                   bool keepdims, std::optional<Scalar> initial, const Array& mask) {
  if (!is_inexact(frontend::node_of("nanmin", x)->dtype) || (mask.has_value() && !initial)) {
    return extremum(x, axes, keepdims, initial, mask);
  }
  const AtLocation here(x);
  const Array valid = numbers(x, mask);
  const bool complex = is_complex(frontend::node_of("nanmin", x)->dtype);
  const Scalar loser = complex ? Scalar(std::complex(neutral, neutral)) : Scalar(neutral);
  const Array filled = where(here(valid), x, here(loser));
  // An initial NaN is replaced, too; it is then the result if no element counts.
  const bool starts = initial && !is_nan(*initial);
  if (initial && !starts) initial = loser;
  Array result = extremum(here(filled), axes, keepdims, initial, {});
  if (starts) return result;
  return where(here(any(here(valid), axes, keepdims)), here(result),
               here(Scalar(std::numeric_limits<double>::quiet_NaN())));
}

using IndexOf = Array (*)(const Operand&, const Axes&, bool);

Array nan_index(IndexOf index_of, double neutral, const Operand& x, const Axes& axis,
                bool keepdims) {
  const frontend::NodeRef node = frontend::node_of("nanargmin", x);
  if (!is_inexact(node->dtype)) return index_of(x, axis, keepdims);
  const AtLocation here(x);
  const std::size_t rank = node->shape.size();
  if (axis.all() && rank != 1) {
    // Flatten, so that both reductions visit the elements in the same order.
    const Array index = nan_index(index_of, neutral, here(ravel(x)), 0, false);
    return keepdims ? reshape(here(index), Shape(rank, 1)) : index;
  }
  const Array valid = numbers(x, {});
  const Array index = index_of(here(where(here(valid), x, here(Scalar(neutral)))), axis, keepdims);
  return where(here(any(here(valid), axis, keepdims)), here(index), here(Scalar(-1)));
}

/// NumPy's rule for means and variances: an integer result could not hold their NaNs.
void check_mean_dtype(std::string_view op, const Operand& x, std::optional<DType> dtype) {
  if (!dtype || is_inexact(*dtype) || !is_inexact(frontend::node_of(op, x)->dtype)) return;
  throw DTypeError(frontend::at(fmt::format("{}: for a floating or complex array the dtype must be "
                                            "floating or complex, not {}; cast the result",
                                            op, numpy_name_of(*dtype)),
                                x.where()));
}

using Variance = Array (*)(const Operand&, const Axes&, double, bool, std::optional<DType>,
                           const Array&, const Array&);

Array nan_variance(std::string_view op, Variance variance, const Operand& x, const Axes& axes,
                   double correction, bool keepdims, std::optional<DType> dtype, const Array& mask,
                   const Array& mean) {
  check_mean_dtype(op, x, dtype);
  const Array valid = numbers(x, mask);
  Array result = variance(x, axes, correction, keepdims, dtype, valid, mean);
  if (!is_inexact(frontend::node_of(op, x)->dtype)) return result;
  const AtLocation here(x);
  const Array count = sum(here(valid), axes, keepdims, DType::f64);
  return where(here(greater(here(count), here(Scalar(correction)))), here(result),
               here(Scalar(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace

Array nansum(const Operand& x, const Axes& axes, bool keepdims, std::optional<DType> dtype,
             std::optional<Scalar> initial, const Array& mask) {
  return sum(x, axes, keepdims, dtype, initial, numbers(x, mask));
}
Array nanprod(const Operand& x, const Axes& axes, bool keepdims, std::optional<DType> dtype,
              std::optional<Scalar> initial, const Array& mask) {
  return prod(x, axes, keepdims, dtype, initial, numbers(x, mask));
}
Array nanmin(const Operand& x, const Axes& axes, bool keepdims, std::optional<Scalar> initial,
             const Array& mask) {
  return nan_extremum(min, infinity, x, axes, keepdims, initial, mask);
}
Array nanmax(const Operand& x, const Axes& axes, bool keepdims, std::optional<Scalar> initial,
             const Array& mask) {
  return nan_extremum(max, -infinity, x, axes, keepdims, initial, mask);
}
Array nanargmin(const Operand& x, const Axes& axis, bool keepdims) {
  return nan_index(argmin, infinity, x, axis, keepdims);
}
Array nanargmax(const Operand& x, const Axes& axis, bool keepdims) {
  return nan_index(argmax, -infinity, x, axis, keepdims);
}
Array nanmean(const Operand& x, const Axes& axes, bool keepdims, std::optional<DType> dtype,
              const Array& mask) {
  check_mean_dtype("nanmean", x, dtype);
  return mean(x, axes, keepdims, dtype, numbers(x, mask));
}
Array nanvar(const Operand& x, const Axes& axes, double correction, bool keepdims,
             std::optional<DType> dtype, const Array& mask, const Array& mean) {
  return nan_variance("nanvar", var, x, axes, correction, keepdims, dtype, mask, mean);
}
Array nanstd(const Operand& x, const Axes& axes, double correction, bool keepdims,
             std::optional<DType> dtype, const Array& mask, const Array& mean) {
  return nan_variance("nanstd", std, x, axes, correction, keepdims, dtype, mask, mean);
}

namespace {

std::vector<std::int64_t> reduced_axes(const frontend::NodeRef& node, const Axes& axes,
                                       const Operand& x) {
  return frontend::axes_of("logsumexp", axes, frontend::rank_of(node), x.where());
}

}  // namespace

Array logsumexp(const Operand& x, const Axes& axes, bool keepdims) {
  const AtLocation here(x);
  const frontend::NodeRef node = frontend::node_of("logsumexp", x);
  const DType result = is_inexact(node->dtype) ? node->dtype : DType::f64;
  const bool small = result == DType::f16 || result == DType::bf16;
  const Array wide = astype(x, small ? DType::f32 : result);
  const Array peak = max(here(wide), axes, true, Scalar(-infinity));
  const Array shift = where(here(isfinite(here(peak))), here(peak), here(Scalar(0)));
  const Array total = sum(here(exp(here(subtract(here(wide), here(shift))))), axes, keepdims);
  const bool same_axes = keepdims || node->shape.empty();
  const Array offset = same_axes ? shift : squeeze(here(shift), reduced_axes(node, axes, x));
  return astype(here(add(here(log(here(total))), here(offset))), result);
}

}  // namespace heddle
