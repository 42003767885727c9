#include "heddle/reductions.h"

#include "heddle/creation.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

// Parameters of the reductions, in NumPy's order. The comments below list the argument positions.
constexpr const char* accumulated =  // a axis dtype out keepdims initial where
    "(a: Operand, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, "
    "keepdims: bool = False, initial: float | None = None, where: Array | bool = True) -> Array";
constexpr const char* extremal =  // a axis out keepdims initial where
    "(a: Operand, axis: Axis = None, out: Array | None = None, keepdims: bool = False, initial: "
    "float | None = None, where: Array | bool = True) -> Array";
constexpr const char* averaged =  // a axis dtype out keepdims where
    "(a: Operand, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, "
    "keepdims: bool = False, *, where: Array | bool = True) -> Array";
constexpr const char* spread =  // a axis dtype out ddof keepdims where mean correction
    "(a: Operand, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, "
    "ddof: float = 0.0, keepdims: bool = False, *, where: Array | bool = True, mean: Array | None "
    "= None, correction: float = 0.0) -> Array";
constexpr const char* logical =  // a axis out keepdims where
    "(a: Operand, axis: Axis = None, out: Array | None = None, keepdims: bool = False, *, "
    "where: Array | bool = True) -> Array";
constexpr const char* peak_to_peak =  // a axis out keepdims
    "(a: Operand, axis: Axis = None, out: Array | None = None, keepdims: bool = False) -> Array";
constexpr const char* indexed =  // a axis out keepdims
    "(a: Operand, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> "
    "Array";

constexpr const char* rules =
    "\n\n"
    "axis is an integer, several, or None for all axes; these axes are removed, or have extent 1 "
    "with keepdims. `initial` is the start value of the reduction, and `where` selects the "
    "elements. Raises AxisError for an axis out of range, ValueError for a repeated axis.\n\n"
    "Example: ";

std::string text(const char* what, const char* example) {
  return std::string(what) + rules + example;
}

using Accumulation = Array (*)(const Operand&, const Axes&, bool, std::optional<DType>,
                               std::optional<Scalar>, const Array&);
using Extremum = Array (*)(const Operand&, const Axes&, bool, std::optional<Scalar>, const Array&);
using Average = Array (*)(const Operand&, const Axes&, bool, std::optional<DType>, const Array&);
using Spread = Array (*)(const Operand&, const Axes&, double, bool, std::optional<DType>,
                         const Array&, const Array&);

template <Accumulation reduce>
Array accumulate(const Arguments& a) {
  return reduce(a.operand(0), a.reduced_axes(1), a.flag(4), a.dtype(2), a.optional_scalar(5),
                a.mask(6));
}
template <Extremum reduce>
Array find_extremum(const Arguments& a) {
  return reduce(a.operand(0), a.reduced_axes(1), a.flag(3), a.optional_scalar(4), a.mask(5));
}
template <Average reduce>
Array take_mean(const Arguments& a) {
  return reduce(a.operand(0), a.reduced_axes(1), a.flag(4), a.dtype(2), a.mask(5));
}
template <Spread reduce>
Array take_spread(const Arguments& a) {
  const double ddof = a.number(4), correction = a.number(8);
  if (ddof != 0 && correction != 0) {
    raise(PyExc_ValueError, "ddof and correction are names of the same argument; pass only one");
  }
  return reduce(a.operand(0), a.reduced_axes(1), ddof + correction, a.flag(5), a.dtype(2),
                a.mask(6), a.optional_array(7));
}

void bind_plain(Functions& functions) {
  functions.def_with_method(
      named("sum", accumulated),
      text("The sum of the elements over axes: numpy.sum. Without a dtype, bool and integers are "
           "added in int64 or uint64, float16 and bfloat16 in float32.",
           "hd.sum(x, axis=-1, keepdims=True)"),
      [](const Arguments& a) { return accumulate<sum>(a); });
  functions.def_with_method(
      named("prod", accumulated),
      text("The product of the elements over axes: numpy.prod. Dtypes as in sum.",
           "hd.prod(x, axis=0)"),
      [](const Arguments& a) { return accumulate<prod>(a); });
  functions.def_with_method(
      named("min", extremal),
      text("The smallest element over axes: numpy.min. NaN if an element is NaN. Raises ValueError "
           "for no elements, or with `where`, unless `initial` is given.",
           "hd.min(x, axis=0)"),
      [](const Arguments& a) { return find_extremum<heddle::min>(a); });
  functions.def_with_method(
      named("max", extremal),
      text("The greatest element over axes: numpy.max. NaN if an element is NaN. Raises ValueError "
           "for no elements, or with `where`, unless `initial` is given.",
           "hd.max(x, axis=0)"),
      [](const Arguments& a) { return find_extremum<heddle::max>(a); });
  functions.alias("amin", "min");
  functions.alias("amax", "max");
  functions.def(
      "reduce_segments(reduction: str, x: Operand, begins: Array, ends: Array, axis: int = 0) -> "
      "Array",
      "Reduces segments of one axis: element i along that axis of the result is sum, prod, min, "
      "max, any or all, as `reduction` names it, of the elements begins[i] .. ends[i] - 1. Begins "
      "and ends are 1-d integers; segments may overlap and have gaps. Without elements, the result "
      "is what the reduction starts from. Bounds are clipped to the axis. As "
      "jax.ops.segment_sum and numpy.ufunc.reduceat. Raises ValueError for another name, "
      "AxisError, "
      "ShapeError, DTypeError.\n\nExample: hd.reduce_segments(\"sum\", x, offsets[:-1], "
      "offsets[1:])",
      [](const Arguments& a) {
        return reduce_segments(a.text(0), a.operand(1), a.array(2), a.array(3), a.integer(4));
      });
  functions.cast_outs(false);  // NumPy's ptp ends with a subtract
  functions.def(
      named("ptp", peak_to_peak),
      text("The greatest minus the smallest element over axes: numpy.ptp.", "hd.ptp(x, axis=0)"),
      [](const Arguments& a) { return ptp(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.cast_outs(true);
  functions.def_with_method(
      named("any", logical),
      text("True if any element is not 0, as bool: numpy.any.", "hd.any(x > 0)"),
      [](const Arguments& a) {
        return any(a.operand(0), a.reduced_axes(1), a.flag(3), a.mask(4));
      });
  functions.def_with_method(
      named("all", logical),
      text("True if all elements are not 0, as bool: numpy.all.", "hd.all(x > 0)"),
      [](const Arguments& a) {
        return all(a.operand(0), a.reduced_axes(1), a.flag(3), a.mask(4));
      });
  functions.def(
      "count_nonzero(a: Operand, axis: Axis = None, *, keepdims: bool = False) -> Array",
      text("The number of elements that are not 0, as int64: numpy.count_nonzero.",
           "hd.count_nonzero(x, axis=0)"),
      [](const Arguments& a) { return count_nonzero(a.operand(0), a.reduced_axes(1), a.flag(2)); });
}

void bind_moments(Functions& functions) {
  functions.def_with_method(named("mean", averaged),
                            text("The mean of the elements over axes: numpy.mean. Integers and "
                                 "bool are computed in float64.",
                                 "hd.mean(x, axis=0)"),
                            [](const Arguments& a) { return take_mean<heddle::mean>(a); });
  functions.def_with_method(
      named("var", spread),
      text("The variance over axes, the mean of squared deviations with divisor n - correction, in "
           "two passes: numpy.var. `ddof` is another name of correction. `mean` is the mean, "
           "computed with keepdims, if already known.",
           "hd.var(x, axis=0, correction=1)"),
      [](const Arguments& a) { return take_spread<heddle::var>(a); });
  functions.cast_outs(false);  // a root stays a float, as in NumPy
  functions.def_with_method(named("std", spread),
                            text("The standard deviation over axes, the square root of var: "
                                 "numpy.std. Arguments as for var.",
                                 "hd.std(x, axis=0)"),
                            [](const Arguments& a) { return take_spread<heddle::std>(a); });
  functions.def(
      "logsumexp(a: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array",
      text("log(sum(exp(a))) over axes, without overflow: scipy.special.logsumexp.",
           "hd.logsumexp(x, axis=1)"),
      [](const Arguments& a) { return logsumexp(a.operand(0), a.reduced_axes(1), a.flag(2)); });
}

void bind_indices(Functions& functions) {
  functions.def_with_method(
      named("argmin", indexed),
      text("The index of the first smallest element, as int64: numpy.argmin. If axis is None, the "
           "index in the flattened array. Raises ValueError for no elements.",
           "hd.argmin(x, axis=1)"),
      [](const Arguments& a) { return argmin(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def_with_method(
      named("argmax", indexed),
      text("The index of the first greatest element, as int64: numpy.argmax. If axis is None, the "
           "index in the flattened array. Raises ValueError for no elements.",
           "hd.argmax(x, axis=1)"),
      [](const Arguments& a) { return argmax(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def(
      named("nanargmin", indexed),
      text("argmin of the elements that are not NaN: numpy.nanargmin. -1 if all are NaN, where "
           "NumPy raises.",
           "hd.nanargmin(x, axis=1)"),
      [](const Arguments& a) { return nanargmin(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def(
      named("nanargmax", indexed),
      text("argmax of the elements that are not NaN: numpy.nanargmax. -1 if all are NaN, where "
           "NumPy raises.",
           "hd.nanargmax(x, axis=1)"),
      [](const Arguments& a) { return nanargmax(a.operand(0), a.reduced_axes(1), a.flag(3)); });
}

void bind_nan_reductions(Functions& functions) {
  functions.def(named("nansum", accumulated),
                text("The sum, with NaN counted as 0: numpy.nansum.", "hd.nansum(x, axis=0)"),
                [](const Arguments& a) { return accumulate<nansum>(a); });
  functions.def(named("nanprod", accumulated),
                text("The product, with NaN counted as 1: numpy.nanprod.", "hd.nanprod(x, axis=0)"),
                [](const Arguments& a) { return accumulate<nanprod>(a); });
  functions.def(named("nanmin", extremal),
                text("The smallest element that is not NaN, or NaN if there is none: numpy.nanmin.",
                     "hd.nanmin(x, axis=0)"),
                [](const Arguments& a) { return find_extremum<nanmin>(a); });
  functions.def(named("nanmax", extremal),
                text("The greatest element that is not NaN, or NaN if there is none: numpy.nanmax.",
                     "hd.nanmax(x, axis=0)"),
                [](const Arguments& a) { return find_extremum<nanmax>(a); });
  functions.cast_outs(false);
  functions.def(
      named("nanmean", averaged),
      text("The mean of the elements that are not NaN, or NaN if there are none: numpy.nanmean.",
           "hd.nanmean(x, axis=0)"),
      [](const Arguments& a) { return take_mean<nanmean>(a); });
  functions.def(named("nanvar", spread),
                text("The variance of the elements that are not NaN: numpy.nanvar. NaN if at most "
                     "`correction` elements are not NaN.",
                     "hd.nanvar(x, axis=0)"),
                [](const Arguments& a) { return take_spread<nanvar>(a); });
  functions.def(named("nanstd", spread),
                text("The standard deviation of the elements that are not NaN, the square root of "
                     "nanvar: numpy.nanstd.",
                     "hd.nanstd(x, axis=0)"),
                [](const Arguments& a) { return take_spread<nanstd>(a); });
}

}  // namespace

void bind_reductions(Functions& functions) {
  functions.cast_outs(true);
  bind_plain(functions);
  bind_moments(functions);
  functions.cast_outs(false);
  bind_indices(functions);
  functions.cast_outs(true);
  bind_nan_reductions(functions);
  functions.cast_outs(false);
}

}  // namespace heddle::python
