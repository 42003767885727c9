#include "heddle/reductions.h"

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

constexpr const char* parameters =
    "(x: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, "
    "keepdims: bool = False) -> Array";
constexpr const char* plain_parameters =
    "(x: Operand, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False) -> Array";
constexpr const char* spread_parameters =
    "(x: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, "
    "correction: float = 0.0, keepdims: bool = False) -> Array";
constexpr const char* index_parameters =
    "(x: Operand, /, axis: int | None = None, out: Array | None = None, keepdims: bool = False) -> "
    "Array";

constexpr const char* rules =
    "\n\naxis is an integer, several, or None for all; those axes vanish from the shape, or with "
    "keepdims have extent 1. Raises IndexError for an axis out of range, ValueError for one given "
    "twice.\n\nExample: ";

std::string text(const char* what, const char* example) {
  return std::string(what) + rules + example;
}

using Reduction = Array (*)(const Operand&, const Axes&, bool);

/// axis=() reduces nothing: each element is alone with an axis of extent 1.
template <Reduction reduce>
Array over(const Operand& x, const Arguments& a, bool keepdims) {
  if (a.is_none(1) || !a.integers(1).empty()) return reduce(x, a.axes(1), keepdims);
  const Array element = expand_dims(x, {-1});
  return reduce({element, a.where()}, {-1}, false);
}

/// With the parameters (x, axis, dtype, out, keepdims): elements are cast before they meet.
template <Reduction reduce>
Array accumulated(const Arguments& a) {
  if (a.is_none(2)) return over<reduce>(a.operand(0), a, a.flag(4));
  const Array x = astype(a.operand(0), *a.dtype(2));
  return astype({over<reduce>({x, a.where()}, a, a.flag(4)), a.where()}, *a.dtype(2));
}

/// With the parameters (x, axis, out, keepdims).
template <Reduction reduce>
Array plain(const Arguments& a) {
  return over<reduce>(a.operand(0), a, a.flag(3));
}

template <Array (*spread)(const Operand&, const Axes&, double, bool)>
Array spread_of(const Arguments& a) {
  const auto compute = [&](const Operand& x) {
    if (a.is_none(1) || !a.integers(1).empty()) {
      return spread(x, a.axes(1), a.number(4), a.flag(5));
    }
    const Array element = expand_dims(x, {-1});
    return spread({element, a.where()}, {-1}, a.number(4), false);
  };
  if (a.is_none(2)) return compute(a.operand(0));
  const Array x = astype(a.operand(0), *a.dtype(2));
  return compute({x, a.where()});
}

}  // namespace

void bind_reductions(Functions& functions) {
  const auto named = [](const char* name, const char* rest) { return std::string(name) + rest; };
  functions.def_with_method(
      named("sum", parameters),
      text("The sum: numpy.sum. bool and integers add up in int64 or uint64, float16 and bfloat16 "
           "in float32, unless a dtype is given.",
           "hd.sum(x, axis=-1, keepdims=True)"),
      [](const Arguments& a) { return accumulated<sum>(a); });
  functions.def_with_method(
      named("prod", parameters),
      text("The product: numpy.prod. dtypes as in sum.", "hd.prod(x, axis=0)"),
      [](const Arguments& a) { return accumulated<prod>(a); });
  functions.def_with_method(
      named("mean", parameters),
      text("The mean: numpy.mean. Integers and bool in float64.", "hd.mean(x, axis=0)"),
      [](const Arguments& a) { return accumulated<mean>(a); });
  functions.def_with_method(
      named("min", plain_parameters),
      text("The smallest element: numpy.min. NaN wins. ValueError over no elements.",
           "hd.min(x, axis=0)"),
      [](const Arguments& a) { return plain<min>(a); });
  functions.def_with_method(
      named("max", plain_parameters),
      text("The greatest element: numpy.max. NaN wins. ValueError over no elements.",
           "hd.max(x, axis=0)"),
      [](const Arguments& a) { return plain<max>(a); });
  functions.alias("amin", "min");
  functions.alias("amax", "max");
  functions.def_with_method(named("any", plain_parameters),
                            text("Whether any element is not 0: numpy.any.", "hd.any(x > 0)"),
                            [](const Arguments& a) { return plain<any>(a); });
  functions.def_with_method(named("all", plain_parameters),
                            text("Whether all elements are not 0: numpy.all.", "hd.all(x > 0)"),
                            [](const Arguments& a) { return plain<all>(a); });
  functions.def("count_nonzero(x: Operand, /, axis: Axis = None, keepdims: bool = False) -> Array",
                text("How many elements are not 0, as int64: numpy.count_nonzero.",
                     "hd.count_nonzero(x, axis=0)"),
                [](const Arguments& a) { return over<count_nonzero>(a.operand(0), a, a.flag(2)); });
  functions.def_with_method(
      named("var", spread_parameters),
      text("The variance in two passes, divided by n - correction: numpy.var.",
           "hd.var(x, axis=0, correction=1)"),
      [](const Arguments& a) { return spread_of<heddle::var>(a); });
  functions.def_with_method(
      named("std", spread_parameters),
      text("The square root of the variance: numpy.std.", "hd.std(x, axis=0)"),
      [](const Arguments& a) { return spread_of<heddle::std>(a); });
  functions.def_with_method(
      named("argmin", index_parameters),
      text("The index of the first smallest element, as int64; of the flattened array where axis "
           "is None: numpy.argmin. ValueError over no elements.",
           "hd.argmin(x, axis=1)"),
      [](const Arguments& a) { return argmin(a.operand(0), a.axes(1), a.flag(3)); });
  functions.def_with_method(
      named("argmax", index_parameters),
      text("The index of the first greatest element, as int64; of the flattened array where axis "
           "is None: numpy.argmax. ValueError over no elements.",
           "hd.argmax(x, axis=1)"),
      [](const Arguments& a) { return argmax(a.operand(0), a.axes(1), a.flag(3)); });
}

}  // namespace heddle::python
