#include "heddle/differences.h"

#include <fmt/format.h>

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

Spacing to_spacing(nb::handle value, const Arguments& a) {
  if (as_scalar(value)) return nb::cast<double>(nb::float_(value));
  const ArrayObject* array = as_array(value);
  return array != nullptr ? array->read(a.where()) : from_python(value, std::nullopt, a.where());
}

/// Raises NumPy's TypeError unless there is one distance, or one spacing for each axis.
void check_count(const Arguments& a) {
  const nb::tuple given = nb::borrow<nb::tuple>(a[1]);
  const Axes axes = a.axes(2);
  const std::size_t count =
      axes.all() ? static_cast<std::size_t>(a.array(0).ndim()) : axes.values().size();
  const bool is_one_distance = given.size() == 1 && as_scalar(given[0]);
  const ArrayObject* array = given.size() == 1 ? as_array(given[0]) : nullptr;
  const bool is_array_distance = array != nullptr && array->read(a.where()).ndim() == 0;
  if (given.size() == 0 || given.size() == count || is_one_distance || is_array_distance) return;
  raise(PyExc_TypeError,
        fmt::format("gradient: {} spacings for {} axes; pass one spacing, or one for each axis",
                    given.size(), count));
}

nb::object gradients(const Arguments& a) {
  check_count(a);
  std::vector<Spacing> spacings;
  for (nb::handle each : nb::borrow<nb::tuple>(a[1])) spacings.push_back(to_spacing(each, a));
  const std::vector<Array> found =
      gradient(a.operand(0), spacings, a.axes(2), static_cast<int>(a.integer(3)));
  if (found.size() == 1) return wrap(found[0]);
  return nb::tuple(to_result(found));
}

}  // namespace

void bind_differences(Functions& functions) {
  functions.def(
      "diff(a: Array, n: int = 1, axis: int = -1, prepend: Operand | None = None, append: "
      "Operand | None = None) -> Array",
      "The n-th differences a[i+1] - a[i] along an axis: numpy.diff. `prepend` and `append` are "
      "joined to a first. Raises ValueError for a negative n.\n\n"
      "Example: hd.diff(x, axis=0)",
      [](const Arguments& a) {
        return diff(a.operand(0), a.integer(1), a.integer(2), a.optional_values(3),
                    a.optional_values(4));
      });
  functions.def(
      "ediff1d(ary: Array, to_end: Operand | None = None, to_begin: Operand | None = None) -> "
      "Array",
      "The differences of neighbours in the flattened array, as a 1-d array: numpy.ediff1d. "
      "to_begin is placed before them, to_end after them.",
      [](const Arguments& a) {
        return ediff1d(a.operand(0), a.optional_values(1), a.optional_values(2));
      });
  functions.def(
      "gradient(f: Array, *varargs: float | Array, axis: Axis = None, edge_order: int = 1) -> "
      "Array | tuple[Array, ...]",
      "The gradient of f along an axis, with the shape of f; a tuple of one Array for each axis if "
      "there are several: numpy.gradient. Inside it uses central differences, at the ends "
      "one-sided differences of order edge_order. A spacing is a distance or the coordinates of "
      "the elements; pass one for all axes or one for each.\n\n"
      "Raises ValueError for too few elements or spacings that do not fit.",
      [](const Arguments& a) { return gradients(a); });
  functions.def(
      "trapezoid(y: Array, x: Array | None = None, dx: float = 1.0, axis: int = -1) -> Array",
      "The integral of y along an axis by the trapezoidal rule: numpy.trapezoid. The samples are "
      "at coordinates x, or dx apart.",
      [](const Arguments& a) {
        const Spacing spacing = a.is_none(1) ? to_spacing(a[2], a) : Spacing(a.array(1));
        return trapezoid(a.operand(0), spacing, a.integer(3));
      });
}

}  // namespace heddle::python
