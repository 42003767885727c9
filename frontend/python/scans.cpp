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
  const auto named = [](const char* name, const char* rest) { return std::string(name) + rest; };
  functions.def_with_method(
      named("cumsum", parameters),
      "Sums of the elements up to each along an axis, of the flattened array where it is None: "
      "numpy.cumsum. bool and integers add up in int64 or uint64, float16 and bfloat16 in "
      "float32, unless a dtype is given. Raises AxisError for an axis out of range.\n\n"
      "Example: hd.cumsum(x, axis=-1)",
      [](const Arguments& a) { return along_axis<cumsum>(a); });
  functions.def_with_method(
      named("cumprod", parameters),
      "Products of the elements up to each along an axis: numpy.cumprod. axis and dtype as in "
      "cumsum.\n\nExample: hd.cumprod(x, axis=0)",
      [](const Arguments& a) { return along_axis<cumprod>(a); });
  functions.def(named("nancumsum", parameters),
                "As cumsum, with 0 in the place of NaN: numpy.nancumsum.\n\n"
                "Example: hd.nancumsum(x, axis=0)",
                [](const Arguments& a) { return along_axis<nancumsum>(a); });
  functions.def(named("nancumprod", parameters),
                "As cumprod, with 1 in the place of NaN: numpy.nancumprod.\n\n"
                "Example: hd.nancumprod(x, axis=0)",
                [](const Arguments& a) { return along_axis<nancumprod>(a); });
  functions.def(named("cumulative_sum", only_axis_parameters),
                "As cumsum along an axis, which may be left out where there is only one: "
                "numpy.cumulative_sum. include_initial puts a 0 in front. Raises ValueError where "
                "the axis is missing.\n\nExample: hd.cumulative_sum(x, axis=0)",
                [](const Arguments& a) { return along_only_axis<cumulative_sum>(a); });
  functions.def(named("cumulative_prod", only_axis_parameters),
                "As cumprod along an axis, which may be left out where there is only one: "
                "numpy.cumulative_prod. include_initial puts a 1 in front. Raises ValueError "
                "where the axis is missing.\n\nExample: hd.cumulative_prod(x, axis=0)",
                [](const Arguments& a) { return along_only_axis<cumulative_prod>(a); });
}

}  // namespace

void bind_scans(Functions& functions) {
  bind_sums_and_products(functions);
  functions.def(std::string("cummax") + extreme_parameters,
                "The greatest of the elements up to each along an axis: numpy.maximum.accumulate. "
                "NaN stays from where it is met. Raises AxisError for an axis out of range.\n\n"
                "Example: hd.cummax(x, axis=1)",
                [](const Arguments& a) { return cummax(a.operand(0), a.integer(1)); });
  functions.def(std::string("cummin") + extreme_parameters,
                "The smallest of the elements up to each along an axis: "
                "numpy.minimum.accumulate.\n\nExample: hd.cummin(x, axis=1)",
                [](const Arguments& a) { return cummin(a.operand(0), a.integer(1)); });
  functions.def(std::string("logcumsumexp") + extreme_parameters,
                "log(cumsum(exp(x))) along an axis, without overflow: numpy.logaddexp.accumulate. "
                "Integers in float64.\n\nExample: hd.logcumsumexp(x, axis=1)",
                [](const Arguments& a) { return logcumsumexp(a.operand(0), a.integer(1)); });
  functions.def(
      "unwrap(p: Operand, discont: float | None = None, axis: int = -1, *, period: Operand = "
      "6.283185307179586) -> Array",
      "Adds multiples of the period so that neighbours along an axis differ by at most half of it: "
      "numpy.unwrap. Steps smaller than discont, at least half a period, stay.\n\n"
      "Example: hd.unwrap(angles)",
      [](const Arguments& a) {
        const std::optional<double> discont =
            a.is_none(1) ? std::nullopt : std::optional(a.number(1));
        return unwrap(a.operand(0), discont, a.integer(2), a.operand(3));
      });
}

}  // namespace heddle::python
