#include "heddle/reductions.h"

#include "heddle/statistics.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

constexpr const char* rules =
    "\n\naxis is an integer, several, or None for all; those axes vanish from the shape, or with "
    "keepdims have extent 1. Raises IndexError for an axis out of range, ValueError for one given "
    "twice.";

/// Binds a function and the method of the name, with NumPy's parameters of such functions.
template <class Implement>
void def(Functions& functions, const char* name, const std::string& parameters, const char* what,
         Implement implement, bool method = true) {
  const std::string declaration =
      std::string(name) + "(x: Operand, /, axis: Axis = None, " + parameters + ") -> Array";
  const std::string text = std::string(what) + rules + "\n\nExample: hd." + name + "(x, axis=0)";
  if (method) {
    functions.def_with_method(declaration, text, implement);
  } else {
    functions.def(declaration, text, implement);
  }
}

constexpr const char* sum_parameters =
    "dtype: DTypeLike | None = None, out: Array | None = None, keepdims: bool = False, initial: "
    "float | None = None, where: Array | None = None";
template <auto function>
Array summed(const Arguments& a) {
  return function(a.operand(0), a.axes(1), a.flag(4), a.dtype(2), a.optional_scalar(5), a.mask(6));
}

constexpr const char* mean_parameters =
    "dtype: DTypeLike | None = None, out: Array | None = None, keepdims: bool = False, *, where: "
    "Array | None = None";
template <auto function>
Array averaged(const Arguments& a) {
  return function(a.operand(0), a.axes(1), a.flag(4), a.dtype(2), a.mask(5));
}

constexpr const char* extremum_parameters =
    "out: Array | None = None, keepdims: bool = False, initial: float | None = None, where: Array "
    "| None = None";
template <auto function>
Array extreme(const Arguments& a) {
  return function(a.operand(0), a.axes(1), a.flag(3), a.optional_scalar(4), a.mask(5));
}

constexpr const char* logical_parameters =
    "out: Array | None = None, keepdims: bool = False, *, where: Array | None = None";
template <auto function>
Array combined(const Arguments& a) {
  return function(a.operand(0), a.axes(1), a.flag(3), a.mask(4));
}

/// NumPy calls the correction ddof; the standard does not.
constexpr const char* spread_parameters =
    "dtype: DTypeLike | None = None, out: Array | None = None, ddof: float = 0, keepdims: bool = "
    "False, *, where: Array | None = None, mean: Array | None = None, correction: float | None = "
    "None";
template <auto function>
Array spread(const Arguments& a) {
  const double correction = a.is_none(8) ? a.number(4) : a.number(8);
  return function(a.operand(0), a.axes(1), correction, a.flag(5), a.dtype(2), a.mask(6),
                  a.optional_array(7));
}

constexpr const char* index_parameters = "out: Array | None = None, *, keepdims: bool = False";
template <auto function>
Array place(const Arguments& a) {
  return function(a.operand(0), a.axes(1), a.flag(3));
}

constexpr const char* plain_parameters = "out: Array | None = None, keepdims: bool = False";

void bind_sums(Functions& f) {
  def(f, "sum", sum_parameters,
      "The sum: numpy.sum. bool and integers add up in int64 or uint64, float16 and bfloat16 in "
      "float32, unless a dtype is given.",
      [](const Arguments& a) { return summed<sum>(a); });
  def(f, "prod", sum_parameters, "The product: numpy.prod. dtypes as in sum.",
      [](const Arguments& a) { return summed<prod>(a); });
  def(
      f, "nansum", sum_parameters, "The sum with NaN counting as 0: numpy.nansum.",
      [](const Arguments& a) { return summed<nansum>(a); }, false);
  def(
      f, "nanprod", sum_parameters, "The product with NaN counting as 1: numpy.nanprod.",
      [](const Arguments& a) { return summed<nanprod>(a); }, false);
  def(f, "mean", mean_parameters, "The mean: numpy.mean. Integers and bool in float64.",
      [](const Arguments& a) { return averaged<mean>(a); });
  def(
      f, "nanmean", mean_parameters, "The mean of what is not NaN: numpy.nanmean.",
      [](const Arguments& a) { return averaged<nanmean>(a); }, false);
  def(f, "var", spread_parameters,
      "The variance in two passes, divided by n - correction: numpy.var.",
      [](const Arguments& a) { return spread<heddle::var>(a); });
  def(f, "std", spread_parameters, "The square root of the variance: numpy.std.",
      [](const Arguments& a) { return spread<heddle::std>(a); });
  def(
      f, "nanvar", spread_parameters, "The variance of what is not NaN: numpy.nanvar.",
      [](const Arguments& a) { return spread<nanvar>(a); }, false);
  def(
      f, "nanstd", spread_parameters, "The standard deviation of what is not NaN: numpy.nanstd.",
      [](const Arguments& a) { return spread<nanstd>(a); }, false);
  def(
      f, "logsumexp", plain_parameters, "log(sum(exp(x))) without overflow: as SciPy's.",
      [](const Arguments& a) { return logsumexp(a.operand(0), a.axes(1), a.flag(3)); }, false);
  def(
      f, "count_nonzero", "*, keepdims: bool = False",
      "How many elements are not 0, as int64: numpy.count_nonzero.",
      [](const Arguments& a) { return count_nonzero(a.operand(0), a.axes(1), a.flag(2)); }, false);
}

void bind_extrema(Functions& f) {
  def(f, "min", extremum_parameters,
      "The smallest element: numpy.min. NaN wins. ValueError over no elements.",
      [](const Arguments& a) { return extreme<min>(a); });
  def(f, "max", extremum_parameters,
      "The greatest element: numpy.max. NaN wins. ValueError over no elements.",
      [](const Arguments& a) { return extreme<max>(a); });
  f.alias("amin", "min");
  f.alias("amax", "max");
  def(
      f, "nanmin", extremum_parameters, "The smallest element that is not NaN: numpy.nanmin.",
      [](const Arguments& a) { return extreme<nanmin>(a); }, false);
  def(
      f, "nanmax", extremum_parameters, "The greatest element that is not NaN: numpy.nanmax.",
      [](const Arguments& a) { return extreme<nanmax>(a); }, false);
  def(
      f, "ptp", plain_parameters, "max - min: numpy.ptp. DTypeError for bool.",
      [](const Arguments& a) { return ptp(a.operand(0), a.axes(1), a.flag(3)); }, false);
  def(f, "any", logical_parameters, "Whether any element is not 0: numpy.any.",
      [](const Arguments& a) { return combined<any>(a); });
  def(f, "all", logical_parameters, "Whether all elements are not 0: numpy.all.",
      [](const Arguments& a) { return combined<all>(a); });
  def(f, "argmin", index_parameters,
      "The index of the first smallest element, as int64; of the flattened array where axis is "
      "None: numpy.argmin. ValueError over no elements.",
      [](const Arguments& a) { return place<argmin>(a); });
  def(f, "argmax", index_parameters,
      "The index of the first greatest element, as int64; of the flattened array where axis is "
      "None: numpy.argmax. ValueError over no elements.",
      [](const Arguments& a) { return place<argmax>(a); });
  def(
      f, "nanargmin", index_parameters,
      "argmin of what is not NaN, -1 where nothing is: numpy.nanargmin.",
      [](const Arguments& a) { return place<nanargmin>(a); }, false);
  def(
      f, "nanargmax", index_parameters,
      "argmax of what is not NaN, -1 where nothing is: numpy.nanargmax.",
      [](const Arguments& a) { return place<nanargmax>(a); }, false);
}

}  // namespace

void bind_reductions(Functions& functions) {
  bind_sums(functions);
  bind_extrema(functions);
  functions.def(
      "average(x: Operand, /, axis: Axis = None, weights: Array | None = None, returned: bool = "
      "False, *, keepdims: bool = False) -> Array | tuple[Array, Array]",
      "The weighted mean, with returned=True also the sum of the weights: numpy.average. Raises "
      "ShapeError for weights of another shape.",
      [](const Arguments& a) {
        const Array weights = a.optional_array(2);
        if (!a.flag(3)) return wrap(average(a.operand(0), a.axes(1), weights, a.flag(4)));
        return to_result(average_returned(a.operand(0), a.axes(1), weights, a.flag(4)));
      });
  functions.def(
      "cov(x: Array, /, y: Array | None = None, rowvar: bool = True, bias: bool = False, ddof: int "
      "| None = None, fweights: Array | None = None, aweights: Array | None = None, *, dtype: "
      "DTypeLike | None = None) -> Array",
      "The covariance matrix of variables in rows: numpy.cov. Raises ShapeError, DTypeError.",
      [](const Arguments& a) {
        return cov(a.operand(0), {a.optional_array(1), a.flag(2), a.flag(3), a.optional_integer(4),
                                  a.optional_array(5), a.optional_array(6), a.dtype(7)});
      });
  functions.def(
      "corrcoef(x: Array, /, y: Array | None = None, rowvar: bool = True, *, dtype: "
      "DTypeLike | None = None) -> Array",
      "Covariances divided by the standard deviations: numpy.corrcoef.", [](const Arguments& a) {
        return corrcoef(a.operand(0), a.optional_array(1), a.flag(2), a.dtype(3));
      });
}

}  // namespace heddle::python
