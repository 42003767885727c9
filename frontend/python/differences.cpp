#include "heddle/differences.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

Spacing spacing(nb::handle value, const Arguments& a) {
  if (const ArrayObject* array = as_array(value)) return array->read(a.where());
  const double distance = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return distance;
}

}  // namespace

void bind_differences(Functions& functions) {
  functions.def(
      "diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: "
      "Array "
      "| None = None) -> Array",
      "Differences of neighbours along an axis, n times, of bool whether they differ: numpy.diff. "
      "Raises ValueError for a negative n, ShapeError for a 0-d array.",
      [](const Arguments& a) {
        return diff(a.operand(0), a.integer(2), a.integer(1), a.optional_array(3),
                    a.optional_array(4));
      });
  functions.def(
      "ediff1d(x: Array, /, to_end: Array | None = None, to_begin: Array | None = None) "
      "-> Array",
      "Differences of neighbours of the flattened array: numpy.ediff1d.", [](const Arguments& a) {
        return ediff1d(a.operand(0), a.optional_array(1), a.optional_array(2));
      });
  functions.def(
      "gradient(x: Array, /, *spacings: float | Array, axis: int | tuple[int, ...] | None = None, "
      "edge_order: int = 1) -> Array | tuple[Array, ...]",
      "Central differences, one array for each axis: numpy.gradient. Raises ValueError for too few "
      "elements.",
      [](const Arguments& a) {
        std::vector<Spacing> spacings;
        for (nb::handle each : nb::borrow<nb::tuple>(a[1])) spacings.push_back(spacing(each, a));
        std::vector<Array> result =
            gradient(a.operand(0), spacings, a.axes(2), static_cast<int>(a.integer(3)));
        return result.size() == 1 ? wrap(std::move(result[0])) : to_result(std::move(result));
      });
  functions.def(
      "trapezoid(y: Array, x: Array | None = None, dx: float = 1.0, axis: int = -1) -> "
      "Array",
      "The integral along an axis by the trapezoidal rule: numpy.trapezoid.",
      [](const Arguments& a) {
        const Spacing along = a.is_none(1) ? Spacing(a.number(2)) : Spacing(a.array(1));
        return trapezoid(a.operand(0), along, a.integer(3));
      });
}

}  // namespace heddle::python
