#include "heddle/scans.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

constexpr const char* parameters =
    "(a: Operand, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = "
    "None) -> Array";
constexpr const char* only_axis_parameters =
    "(x: Operand, /, *, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None "
    "= None, include_initial: bool = False) -> Array";
constexpr const char* extreme_parameters =
    "(x: Operand, /, axis: int = 0, out: Array | None = None) -> Array";

using Scan = Array (*)(const Operand&, const Axes&, std::optional<DType>);
using CumulativeScan = Array (*)(const Operand&, const Axes&, std::optional<DType>, bool);

template <Scan scan>
Array along_axis(const Arguments& a) {
  return scan(a.operand(0), a.axes(1), a.dtype(2));
}

template <CumulativeScan scan>
Array along_only_axis(const Arguments& a) {
  return scan(a.operand(0), a.axes(1), a.dtype(2), a.flag(4));
}

void bind_sums_and_products(Functions& functions) {
  functions.def_with_method(
      named("cumsum", parameters),
      "Cumulative sums along an axis; of the flattened array if axis is None: numpy.cumsum. "
      "Without a dtype, bool and integers are added in int64 or uint64, float16 and bfloat16 in "
      "float32. Raises AxisError for an axis out of range.\n\n"
      "Example: hd.cumsum(x, axis=-1)",
      [](const Arguments& a) { return along_axis<cumsum>(a); });
  functions.def_with_method(
      named("cumprod", parameters),
      "Cumulative products along an axis: numpy.cumprod. axis and dtype as in cumsum.\n\n"
      "Example: hd.cumprod(x, axis=0)",
      [](const Arguments& a) { return along_axis<cumprod>(a); });
  functions.def(named("nancumsum", parameters),
                "Like cumsum, with NaN counted as 0: numpy.nancumsum.\n\n"
                "Example: hd.nancumsum(x, axis=0)",
                [](const Arguments& a) { return along_axis<nancumsum>(a); });
  functions.def(named("nancumprod", parameters),
                "Like cumprod, with NaN counted as 1: numpy.nancumprod.\n\n"
                "Example: hd.nancumprod(x, axis=0)",
                [](const Arguments& a) { return along_axis<nancumprod>(a); });
  functions.def(
      named("cumulative_sum", only_axis_parameters),
      "Cumulative sums along an axis, like cumsum: numpy.cumulative_sum. axis is optional for a "
      "1-d array. include_initial adds a 0 in front. Raises ValueError if the axis is missing.\n\n"
      "Example: hd.cumulative_sum(x, axis=0)",
      [](const Arguments& a) { return along_only_axis<cumulative_sum>(a); });
  functions.def(named("cumulative_prod", only_axis_parameters),
                "Cumulative products along an axis, like cumprod: numpy.cumulative_prod. axis is "
                "optional for a 1-d array. include_initial adds a 1 in front. Raises ValueError if "
                "the axis is missing.\n\n"
                "Example: hd.cumulative_prod(x, axis=0)",
                [](const Arguments& a) { return along_only_axis<cumulative_prod>(a); });
}

}  // namespace

void bind_scans(Functions& functions) {
  bind_sums_and_products(functions);
  functions.def(std::string("cummax") + extreme_parameters,
                "Cumulative maxima along an axis: numpy.maximum.accumulate. After a NaN all are "
                "NaN. Raises AxisError for an axis out of range.\n\n"
                "Example: hd.cummax(x, axis=1)",
                [](const Arguments& a) { return cummax(a.operand(0), a.integer(1)); });
  functions.def(
      std::string("cummin") + extreme_parameters,
      "Cumulative minima along an axis: numpy.minimum.accumulate. After a NaN all are NaN.\n\n"
      "Example: hd.cummin(x, axis=1)",
      [](const Arguments& a) { return cummin(a.operand(0), a.integer(1)); });
  functions.def(std::string("logcumsumexp") + extreme_parameters,
                "log(cumsum(exp(x))) along an axis, without overflow: numpy.logaddexp.accumulate. "
                "Integers are computed in float64.\n\n"
                "Example: hd.logcumsumexp(x, axis=1)",
                [](const Arguments& a) { return logcumsumexp(a.operand(0), a.integer(1)); });
  functions.def(
      "unwrap(p: Operand, discont: float | None = None, axis: int = -1, *, period: Operand = "
      "6.283185307179586) -> Array",
      "p with multiples of the period added, so that neighbours along an axis differ by at most "
      "half a period: numpy.unwrap. Steps smaller than discont (at least half a period) are "
      "unchanged.\n\n"
      "Example: hd.unwrap(angles)",
      [](const Arguments& a) {
        const std::optional<double> discont =
            a.is_none(1) ? std::nullopt : std::optional(a.number(1));
        return unwrap(a.operand(0), discont, a.integer(2), a.operand(3));
      });
}

}  // namespace heddle::python
