#include "heddle/functional.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

/// Calls the function on a 1-d slice with the further arguments; converts a Python TraceError.
Array applied(const Arguments& a, const Array& line) {
  try {
    const nb::object result =
        nb::borrow(a[0])(wrap(line), *nb::borrow<nb::tuple>(a[3]), **nb::borrow<nb::dict>(a[4]));
    if (const ArrayObject* array = as_array(result)) return array->read(a.where());
    return from_python(result, std::nullopt, a.where());
  } catch (nb::python_error& error) {
    static const nb::handle trace_error =
        nb::object(nb::module_::import_("heddle._heddle").attr("TraceError")).release();
    if (!error.matches(trace_error)) throw;
    throw TraceError(nb::str(error.value()).c_str());
  }
}

}  // namespace

void bind_functional(Functions& functions) {
  functions.def(
      "apply_along_axis(func1d: Callable, axis: int, arr: Array, *args: Any, **kwargs: Any) -> "
      "Array",
      "The results of func1d for each 1-d slice along an axis; each result takes the place of that "
      "axis: numpy.apply_along_axis. func1d receives a 1-d Array, args and kwargs. It is called "
      "once, and the recorded operations apply to all slices together. It is called for each "
      "slice, as in NumPy, if it reads values, assigns to Arrays from outside, draws random "
      "numbers or may fail, as linear algebra does.\n\n"
      "Raises AxisError for an axis out of range, ValueError if there are no 1-d slices.\n\n"
      "Example: hd.apply_along_axis(lambda v: v / hd.sum(v), 0, x)",
      [](const Arguments& a) {
        return apply_along_axis([&](const Array& line) { return applied(a, line); }, a.integer(1),
                                a.operand(2));
      });
}

}  // namespace heddle::python
