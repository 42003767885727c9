#include "heddle/array.h"
#include "heddle/elementwise.h"

#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/errors.h"

// Methods that Python protocols call: format, round, pickle, copy, notebook display.

namespace heddle::python {

namespace {

/// A copy. The copy of a scalar is a scalar; the copy of another 0-d array is writable in place.
nb::object copied(const Arguments& a) {
  nb::object result = wrap(a.array(0));
  as_array(result)->base().is_scalar = a.object(0).is_scalar();
  return result;
}

}  // namespace

void bind_array_methods(Functions& functions) {
  functions.def_method("eval(self) -> Array",
                       "Computes the value now, without waiting for the device; returns self.",
                       [](const Arguments& a) {
                         compute(a.array(0));
                         return nb::borrow(a[0]);
                       });
  functions.def_method(
      "to_device(self, device: Device, /, *, stream: Any = None) -> Array",
      "The Array on a device, 'cpu' or 'cuda:0'; self if it is already there. Raises DeviceError.",
      [](const Arguments& a) { return to_device(nb::borrow(a[0]), a[1], a.where()); });
  functions.def_method("conj(self) -> Array", "The complex conjugate: numpy.ndarray.conj.",
                       [](const Arguments& a) { return conjugated(a); });
  functions.def_method(
      "__complex__(self) -> complex", "The only element as a complex number.",
      [](const Arguments& a) {
        const nb::object value = item(a.array(0), a.where());
        return nb::object(nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(value));
      });
  functions.def_method(
      "__array_namespace__(self, /, *, api_version: str | None = None) -> Any",
      "The module heddle, for code that supports any array library of the array API standard.",
      [](const Arguments& a) {
        if (!a.is_none(1)) {
          const std::string version = a.text(1);
          if (version.substr(0, 4) < "2021" || version > "2024.12") {
            raise(PyExc_ValueError,
                  "array API version " + version + " is not supported; the newest is 2024.12");
          }
        }
        return nb::object(nb::module_::import_("heddle"));
      });
  functions.def_method("__format__(self, spec: str, /) -> str",
                       "A 0-d array formatted as a Python number. For other arrays str(x); a "
                       "format spec raises TypeError.",
                       [](const Arguments& a) {
                         const Array& array = a.array(0);
                         if (array.ndim() == 0) {
                           const nb::object value = item(array, a.where());
                           return nb::object(nb::steal(PyObject_Format(value.ptr(), a[1].ptr())));
                         }
                         if (!a.text(1).empty()) {
                           raise(PyExc_TypeError,
                                 "only 0-d Arrays support a format spec; index the Array, or use "
                                 "heddle.set_printoptions");
                         }
                         return nb::object(nb::str(a[0]));
                       });
  functions.def_method(
      "__round__(self, ndigits: int | None = None, /) -> Array | int",
      "round(x) is the int nearest to a 0-d array; round(x, n) is heddle.round(x, n).",
      [](const Arguments& a) {
        if (!a.is_none(1))
          return wrap(heddle::round({a.array(0), a.where()}, static_cast<int>(a.integer(1))));
        const nb::object value = item(a.array(0), a.where());
        const nb::object rounded = value.attr("__round__")();
        return rounded;
      });
  functions.def_method("__trunc__(self) -> int",
                       "math.trunc(x): the only element, truncated to an int.",
                       [](const Arguments& a) {
                         const nb::object value = item(a.array(0), a.where());
                         return nb::object(value.attr("__trunc__")());
                       });
  functions.def_method(
      "is_integer(self) -> bool",
      "True if a 0-d array is a whole number: numpy.float64.is_integer. Raises TypeError for other "
      "arrays, and for bool and complex numbers.",
      [](const Arguments& a) {
        const Array& array = a.array(0);
        if (array.ndim() != 0 || is_boolean(array.dtype()) || is_complex(array.dtype())) {
          raise(PyExc_TypeError, "is_integer: only 0-d arrays of real numbers support it");
        }
        const nb::object value = item(array, a.where());
        return is_integer(array.dtype()) ? true : nb::cast<bool>(value.attr("is_integer")());
      });
  functions.def_method(
      "__reduce__(self) -> tuple", "For pickle: the elements as a NumPy array, without the device.",
      [](const Arguments& a) {
        const nb::object make = nb::module_::import_("heddle").attr("asarray");
        return nb::object(nb::make_tuple(make, nb::make_tuple(to_numpy(a.array(0), a.where()))));
      });
  functions.def_method("__copy__(self) -> Array", "An array of its own, with the same elements.",
                       [](const Arguments& a) { return copied(a); });
  functions.def_method("__deepcopy__(self, memo: dict | None = None, /) -> Array",
                       "An array of its own, with the same elements.",
                       [](const Arguments& a) { return copied(a); });
  functions.def_method("_repr_html_(self) -> str", "repr(x), for notebooks.",
                       [](const Arguments& a) {
                         const nb::object html = nb::module_::import_("html");
                         const nb::object text = html.attr("escape")(nb::repr(a[0]));
                         return nb::object(nb::str("<pre>") + text + nb::str("</pre>"));
                       });
  const nb::handle type = nb::type<ArrayObject>();
  nb::setattr(type, "__array_priority__", nb::float_(1000));
  nb::setattr(type, "__module__", nb::str("heddle"));
}

}  // namespace heddle::python
