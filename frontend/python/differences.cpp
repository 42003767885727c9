#include "heddle/differences.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

Spacing to_spacing(nb::handle value, const Arguments& a) {
  const ArrayObject* array = as_array(value);
  if (array == nullptr) return nb::cast<double>(nb::float_(value));
  const Array& coordinates = array->read(a.where());
  if (coordinates.ndim() > 0) return coordinates;
  return nb::cast<double>(nb::float_(item(coordinates, a.where())));
}

nb::object gradients(const Arguments& a) {
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
      "diff(x: Array, /, n: int = 1, axis: int = -1, prepend: Operand | None = None, append: "
      "Operand | None = None) -> Array",
      "Differences of neighbours along an axis, n times: numpy.diff. prepend and append are put "
      "around x before. Raises ValueError for a negative n.\n\nExample: hd.diff(x, axis=0)",
      [](const Arguments& a) {
        return diff(a.operand(0), a.integer(1), a.integer(2), a.optional_values(3),
                    a.optional_values(4));
      });
  functions.def(
      "ediff1d(x: Array, /, to_end: Operand | None = None, to_begin: Operand | None = None) -> "
      "Array",
      "Differences of neighbours in the flattened array, with values before and behind: "
      "numpy.ediff1d.",
      [](const Arguments& a) {
        return ediff1d(a.operand(0), a.optional_values(1), a.optional_values(2));
      });
  functions.def(
      "gradient(x: Array, /, *spacing: float | Array, axis: Axis = None, edge_order: int = 1) -> "
      "Array | tuple[Array, ...]",
      "Central differences, at the ends one-sided of order edge_order, along one axis or for each "
      "of several: numpy.gradient. A spacing is a distance or the elements' coordinates, one for "
      "all axes or one for each.\n\nRaises ValueError for too few elements or spacings that do not "
      "fit.",
      [](const Arguments& a) { return gradients(a); });
  functions.def(
      "trapezoid(y: Array, /, x: Array | None = None, dx: float = 1.0, axis: int = -1) -> Array",
      "The integral along an axis by the composite trapezoidal rule, at coordinates x or distances "
      "dx: numpy.trapezoid.",
      [](const Arguments& a) {
        const Spacing spacing = a.is_none(1) ? Spacing(a.number(2)) : Spacing(a.optional_array(1));
        return trapezoid(a.operand(0), spacing, a.integer(3));
      });
}

}  // namespace heddle::python
