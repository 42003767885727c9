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
    "\n\naxis is an integer, several, or None for all; those axes vanish from the shape, or with "
    "keepdims have extent 1. `initial` is what the reduction starts from, `where` says which "
    "elements count. Raises AxisError for an axis out of range, ValueError for one given twice."
    "\n\nExample: ";

std::string text(const char* what, const char* example) {
  return std::string(what) + rules + example;
}
std::string named(const char* name, const char* parameters) {
  return std::string(name) + parameters;
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
    raise(PyExc_ValueError, "ddof and correction are two names of one argument; give one");
  }
  return reduce(a.operand(0), a.reduced_axes(1), ddof + correction, a.flag(5), a.dtype(2),
                a.mask(6), a.optional_array(7));
}

void bind_plain(Functions& functions) {
  functions.def_with_method(
      named("sum", accumulated),
      text("The sum: numpy.sum. bool and integers add up in int64 or uint64, float16 and bfloat16 "
           "in float32, unless a dtype is given.",
           "hd.sum(x, axis=-1, keepdims=True)"),
      [](const Arguments& a) { return accumulate<sum>(a); });
  functions.def_with_method(
      named("prod", accumulated),
      text("The product: numpy.prod. dtypes as in sum.", "hd.prod(x, axis=0)"),
      [](const Arguments& a) { return accumulate<prod>(a); });
  functions.def_with_method(
      named("min", extremal),
      text("The smallest element: numpy.min. NaN wins. ValueError over no elements, or for "
           "`where`, without an initial value.",
           "hd.min(x, axis=0)"),
      [](const Arguments& a) { return find_extremum<heddle::min>(a); });
  functions.def_with_method(
      named("max", extremal),
      text("The greatest element: numpy.max. NaN wins. ValueError over no elements, or for "
           "`where`, without an initial value.",
           "hd.max(x, axis=0)"),
      [](const Arguments& a) { return find_extremum<heddle::max>(a); });
  functions.alias("amin", "min");
  functions.alias("amax", "max");
  functions.def(named("ptp", peak_to_peak), text("max - min: numpy.ptp.", "hd.ptp(x, axis=0)"),
                [](const Arguments& a) { return ptp(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def_with_method(named("any", logical),
                            text("Whether any element is not 0: numpy.any.", "hd.any(x > 0)"),
                            [](const Arguments& a) {
                              return any(a.operand(0), a.reduced_axes(1), a.flag(3), a.mask(4));
                            });
  functions.def_with_method(named("all", logical),
                            text("Whether all elements are not 0: numpy.all.", "hd.all(x > 0)"),
                            [](const Arguments& a) {
                              return all(a.operand(0), a.reduced_axes(1), a.flag(3), a.mask(4));
                            });
  functions.def(
      "count_nonzero(a: Operand, axis: Axis = None, *, keepdims: bool = False) -> Array",
      text("How many elements are not 0, as int64: numpy.count_nonzero.",
           "hd.count_nonzero(x, axis=0)"),
      [](const Arguments& a) { return count_nonzero(a.operand(0), a.reduced_axes(1), a.flag(2)); });
}

void bind_moments(Functions& functions) {
  functions.def_with_method(
      named("mean", averaged),
      text("The mean: numpy.mean. Integers and bool in float64.", "hd.mean(x, axis=0)"),
      [](const Arguments& a) { return take_mean<heddle::mean>(a); });
  functions.def_with_method(
      named("var", spread),
      text("The variance in two passes, divided by n - correction: numpy.var. `ddof` is another "
           "name of correction, `mean` the mean where it is known, with keepdims.",
           "hd.var(x, axis=0, correction=1)"),
      [](const Arguments& a) { return take_spread<heddle::var>(a); });
  functions.def_with_method(
      named("std", spread),
      text("The square root of the variance: numpy.std. Arguments as for var.",
           "hd.std(x, axis=0)"),
      [](const Arguments& a) { return take_spread<heddle::std>(a); });
  functions.def(
      "logsumexp(a: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array",
      text("log(sum(exp(x))) without overflow: scipy.special.logsumexp.",
           "hd.logsumexp(x, axis=1)"),
      [](const Arguments& a) { return logsumexp(a.operand(0), a.reduced_axes(1), a.flag(2)); });
}

void bind_indices(Functions& functions) {
  functions.def_with_method(
      named("argmin", indexed),
      text("The index of the first smallest element, as int64; of the flattened array where axis "
           "is None: numpy.argmin. ValueError over no elements.",
           "hd.argmin(x, axis=1)"),
      [](const Arguments& a) { return argmin(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def_with_method(
      named("argmax", indexed),
      text("The index of the first greatest element, as int64; of the flattened array where axis "
           "is None: numpy.argmax. ValueError over no elements.",
           "hd.argmax(x, axis=1)"),
      [](const Arguments& a) { return argmax(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def(
      named("nanargmin", indexed),
      text("argmin of what is not NaN: numpy.nanargmin; -1 where all are, for which NumPy raises.",
           "hd.nanargmin(x, axis=1)"),
      [](const Arguments& a) { return nanargmin(a.operand(0), a.reduced_axes(1), a.flag(3)); });
  functions.def(
      named("nanargmax", indexed),
      text("argmax of what is not NaN: numpy.nanargmax; -1 where all are, for which NumPy raises.",
           "hd.nanargmax(x, axis=1)"),
      [](const Arguments& a) { return nanargmax(a.operand(0), a.reduced_axes(1), a.flag(3)); });
}

void bind_nan_reductions(Functions& functions) {
  functions.def(named("nansum", accumulated),
                text("The sum, NaN counting as 0: numpy.nansum.", "hd.nansum(x, axis=0)"),
                [](const Arguments& a) { return accumulate<nansum>(a); });
  functions.def(named("nanprod", accumulated),
                text("The product, NaN counting as 1: numpy.nanprod.", "hd.nanprod(x, axis=0)"),
                [](const Arguments& a) { return accumulate<nanprod>(a); });
  functions.def(named("nanmin", extremal),
                text("The smallest element that is not NaN, NaN where there is none: numpy.nanmin.",
                     "hd.nanmin(x, axis=0)"),
                [](const Arguments& a) { return find_extremum<nanmin>(a); });
  functions.def(named("nanmax", extremal),
                text("The greatest element that is not NaN, NaN where there is none: numpy.nanmax.",
                     "hd.nanmax(x, axis=0)"),
                [](const Arguments& a) { return find_extremum<nanmax>(a); });
  functions.def(named("nanmean", averaged),
                text("The mean of what is not NaN, NaN where nothing is: numpy.nanmean.",
                     "hd.nanmean(x, axis=0)"),
                [](const Arguments& a) { return take_mean<nanmean>(a); });
  functions.def(named("nanvar", spread),
                text("The variance of what is not NaN: numpy.nanvar. NaN where there are no more "
                     "than `correction` of them.",
                     "hd.nanvar(x, axis=0)"),
                [](const Arguments& a) { return take_spread<nanvar>(a); });
  functions.def(named("nanstd", spread),
                text("The square root of nanvar: numpy.nanstd.", "hd.nanstd(x, axis=0)"),
                [](const Arguments& a) { return take_spread<nanstd>(a); });
}

}  // namespace

void bind_reductions(Functions& functions) {
  bind_plain(functions);
  bind_moments(functions);
  bind_indices(functions);
  bind_nan_reductions(functions);
}

}  // namespace heddle::python
