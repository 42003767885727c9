#include "heddle/array.h"

#include "heddle/elementwise.h"
#include "heddle/io.h"
#include "heddle/jit.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

/// An operand of an operator; nullopt for what Python should ask instead. An array of a library
/// other than NumPy next to one of ours is a mistake, and says so. What is converted lives in
/// `converted`.
std::optional<Operand> operand_of(PyObject* value, const SourceLocation& where,
                                  std::optional<Array>& converted) {
  if (const ArrayObject* array = as_array(value)) return Operand(array->read(where), where);
  converted = foreign_operand(value, where);
  if (converted) return Operand(*converted, where);
  if (const auto scalar = as_scalar(value)) return Operand(*scalar, where);
  if (nb::hasattr(value, "__array__") || nb::hasattr(value, "__dlpack__")) {
    raise(PyExc_TypeError, "an Array meets a " + describe_foreign(value));
  }
  return std::nullopt;
}

using Unary = Array (*)(const Operand&);
using Binary = Array (*)(const Operand&, const Operand&);

template <Unary function>
PyObject* unary(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    return wrap(function({as_array(self)->read(where), where})).release().ptr();
  });
}

template <Binary function>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    std::optional<Array> left, right;
    const auto x = operand_of(a, where, left), y = operand_of(b, where, right);
    if (!x || !y) return not_implemented();
    return wrap(function(*x, *y)).release().ptr();
  });
}

template <Binary function>
PyObject* in_place(PyObject* a, PyObject* b) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    ArrayObject& target = *as_array(a);
    std::optional<Array> converted;
    const auto y = operand_of(b, where, converted);
    if (!y) return not_implemented();
    store(target, function({target.read(where), where}, *y), "in-place operator", where);
    return Py_NewRef(a);
  });
}

PyObject* powered(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  return binary<power>(a, b);
}
PyObject* powered_in_place(PyObject* a, PyObject* b, PyObject*) { return in_place<power>(a, b); }

PyObject* divided(PyObject* a, PyObject* b) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    std::optional<Array> left, right;
    const auto x = operand_of(a, where, left), y = operand_of(b, where, right);
    if (!x || !y) return not_implemented();
    return to_result(heddle::divmod(*x, *y)).release().ptr();
  });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_LT:
      return binary<less>(a, b);
    case Py_LE:
      return binary<less_equal>(a, b);
    case Py_EQ:
      return binary<equal>(a, b);
    case Py_NE:
      return binary<not_equal>(a, b);
    case Py_GT:
      return binary<greater>(a, b);
    default:
      return binary<greater_equal>(a, b);
  }
}

int is_true(PyObject* self) {
  return guarded(-1, [&] {
    const SourceLocation where = python_location();
    return truth(as_array(self)->read(where), where) ? 1 : 0;
  });
}

/// The element for int(), float() and complex(): NumPy converts arrays of one element.
nb::object element(PyObject* self) {
  const SourceLocation where = python_location();
  return item(as_array(self)->read(where), where);
}

PyObject* to_int(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr),
                 [&] { return PyNumber_Long(element(self).ptr()); });
}
PyObject* to_float(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr),
                 [&] { return PyNumber_Float(element(self).ptr()); });
}
PyObject* to_index(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const Array& array = as_array(self)->read(python_location());
    if (!is_integer(array.dtype()) || array.ndim() != 0) {
      raise(PyExc_TypeError, "only 0-d arrays of integers can be used as an index");
    }
    return element(self).release().ptr();
  });
}

/// Of the only element, as of NumPy's scalars, which 0-d results are there.
Py_hash_t hashed(PyObject* self) {
  return guarded(Py_hash_t{-1}, [&] {
    const SourceLocation where = python_location();
    const Array& array = as_array(self)->read(where);
    if (array.ndim() != 0)
      raise(PyExc_TypeError, "unhashable: only Arrays of 0 dimensions have a hash");
    const Py_hash_t result = PyObject_Hash(item(array, where).ptr());
    if (result == -1) throw nb::python_error();
    return result;
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded(Py_ssize_t{-1}, [&] {
    const Array& array = as_array(self)->read(python_location());
    if (array.ndim() == 0) raise(PyExc_TypeError, "len() of a 0-d array");
    return static_cast<Py_ssize_t>(array.shape(0, python_location()));
  });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    return get_item(*as_array(self), key, where).release().ptr();
  });
}

/// Of what walks over a sequence, iter() among it.
PyObject* sequence_item(PyObject* self, Py_ssize_t place) {
  const nb::object key = nb::steal(PyLong_FromSsize_t(place));
  return key.is_valid() ? subscript(self, key.ptr()) : nullptr;
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (value == nullptr) raise(PyExc_TypeError, "elements of an Array cannot be deleted");
    const SourceLocation where = python_location();
    statement_point();
    set_item(*as_array(self), key, value, where);
    return 0;
  });
}

PyObject* iterate(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    if (length(self) < 0) throw nb::python_error();
    return PySeqIter_New(self);
  });
}

int contains(PyObject* self, PyObject* value) {
  return guarded(-1, [&] {
    const SourceLocation where = python_location();
    std::optional<Array> converted;
    const auto y = operand_of(value, where, converted);
    if (!y) return 0;
    const Array same = equal({as_array(self)->read(where), where}, *y);
    return truth(any({same, where}), where) ? 1 : 0;
  });
}

template <std::string (*text)(const Array&, SourceLocation)>
PyObject* printed(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    const Array array = as_array(self)->read(where);
    if (!frontend::tracing()) compute(array);
    const std::string result = text(array, where);
    return PyUnicode_FromStringAndSize(result.data(), static_cast<Py_ssize_t>(result.size()));
  });
}

#define HEDDLE_BINARY_SLOT(slot, name)                            \
  {Py_nb_##slot, reinterpret_cast<void*>(binary<name>)}, {        \
    Py_nb_inplace_##slot, reinterpret_cast<void*>(in_place<name>) \
  }

PyType_Slot slots[] = {
    HEDDLE_BINARY_SLOT(add, add),
    HEDDLE_BINARY_SLOT(subtract, subtract),
    HEDDLE_BINARY_SLOT(multiply, multiply),
    HEDDLE_BINARY_SLOT(true_divide, divide),
    HEDDLE_BINARY_SLOT(floor_divide, floor_divide),
    HEDDLE_BINARY_SLOT(remainder, remainder),
    HEDDLE_BINARY_SLOT(and, bitwise_and),
    HEDDLE_BINARY_SLOT(or, bitwise_or),
    HEDDLE_BINARY_SLOT(xor, bitwise_xor),
    HEDDLE_BINARY_SLOT(lshift, left_shift),
    HEDDLE_BINARY_SLOT(rshift, right_shift),
    HEDDLE_BINARY_SLOT(matrix_multiply, matmul),
    {Py_nb_power, reinterpret_cast<void*>(powered)},
    {Py_nb_inplace_power, reinterpret_cast<void*>(powered_in_place)},
    {Py_nb_divmod, reinterpret_cast<void*>(divided)},
    {Py_nb_negative, reinterpret_cast<void*>(unary<negative>)},
    {Py_nb_positive, reinterpret_cast<void*>(unary<positive>)},
    {Py_nb_absolute, reinterpret_cast<void*>(unary<absolute>)},
    {Py_nb_invert, reinterpret_cast<void*>(unary<invert>)},
    {Py_nb_bool, reinterpret_cast<void*>(is_true)},
    {Py_nb_int, reinterpret_cast<void*>(to_int)},
    {Py_nb_float, reinterpret_cast<void*>(to_float)},
    {Py_nb_index, reinterpret_cast<void*>(to_index)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_hash, reinterpret_cast<void*>(hashed)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_tp_repr, reinterpret_cast<void*>(printed<heddle::repr>)},
    {Py_tp_str, reinterpret_cast<void*>(printed<heddle::to_string>)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)},
    {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {0, nullptr},
};
#undef HEDDLE_BINARY_SLOT

nb::object tuple_of(const std::vector<std::int64_t>& values) {
  nb::list list;
  for (std::int64_t value : values) list.append(value);
  return nb::tuple(list);
}

ArrayObject transposed(ArrayObject& x, bool matrix) {
  const SourceLocation where = python_location();
  const Operand operand(x.read(where), where);
  return x.view_of(matrix ? swapaxes(operand, -2, -1) : transpose(operand), where);
}

/// x.real = value, x.imag = value.
void set_part(const ArrayObject& x, bool imaginary, nb::handle value) {
  const SourceLocation where = python_location();
  statement_point();
  ArrayObject part = x.part(imaginary, where);
  set_item(part, nb::ellipsis(), value, where);
}

nb::object strides(const ArrayObject& x) {
  std::vector<std::int64_t> bytes = x.layout().strides;
  for (std::int64_t& stride : bytes) stride *= static_cast<std::int64_t>(size_of(x.read().dtype()));
  return tuple_of(bytes);
}

constexpr const char* documentation =
    "An N-dimensional array: a value that is recorded, and computed when somebody looks at it "
    "(item, printing, asnumpy, eval). Made by heddle.asarray, heddle.zeros and their like.\n\n"
    "Operators follow NumPy: dtypes promote, Python numbers are weak, shapes broadcast. Basic "
    "indexing and functions like reshape give views that write through.";

}  // namespace

void bind_array(nb::module_& module) {
  nb::class_<ArrayObject>(module, "Array", nb::type_slots(slots), nb::is_final(), documentation)
      .def_prop_ro(
          "dtype", [](const ArrayObject& x) { return to_python(x.read().dtype()); },
          "The element type.")
      .def_prop_ro(
          "shape", [](const ArrayObject& x) { return tuple_of(x.read().shape()); },
          "The extents, outermost first. TraceError for those that a trace leaves open.")
      .def_prop_ro(
          "ndim", [](const ArrayObject& x) { return x.read().ndim(); }, "Number of axes.")
      .def_prop_ro(
          "size", [](const ArrayObject& x) { return x.read().size(); }, "Number of elements.")
      .def_prop_ro(
          "itemsize", [](const ArrayObject& x) { return size_of(x.read().dtype()); },
          "Bytes of an element.")
      .def_prop_ro(
          "nbytes", [](const ArrayObject& x) { return x.read().nbytes(); },
          "Bytes of all elements.")
      .def_prop_ro("strides", strides,
                   "Bytes between neighbours along each axis, as NumPy's array of the same history "
                   "has them.")
      .def_prop_ro(
          "T", [](ArrayObject& x) { return transposed(x, false); },
          "A view with the axes reversed.")
      .def_prop_ro(
          "mT", [](ArrayObject& x) { return transposed(x, true); },
          "A view with the last two axes exchanged.")
      .def_prop_rw(
          "real", [](const ArrayObject& x) { return x.part(false, python_location()); },
          [](const ArrayObject& x, nb::handle value) { set_part(x, false, value); },
          "A view of the real parts, which writes through; real numbers themselves.")
      .def_prop_rw(
          "imag", [](const ArrayObject& x) { return x.part(true, python_location()); },
          [](const ArrayObject& x, nb::handle value) { set_part(x, true, value); },
          "A view of the imaginary parts, which writes through; of real numbers read-only zeros.")
      .def_prop_ro(
          "device",
          [](const ArrayObject& x) { return nb::str(to_string(device_of(x.read())).c_str()); },
          "Where the elements are, or will be: 'cpu' or 'cuda:0'.");
}

void bind_array_methods(Functions& functions) {
  functions.def_method("eval(self) -> Array",
                       "Computes the value now, without waiting for the device; returns self.",
                       [](const Arguments& a) {
                         compute(a.array(0));
                         return nb::borrow(a[0]);
                       });
  functions.def_method(
      "to_device(self, device: Device, /, *, stream: Any = None) -> Array",
      "The Array on a device, 'cpu' or 'cuda:0': itself where it is there "
      "already. Raises DeviceError.",
      [](const Arguments& a) { return to_device(nb::borrow(a[0]), a[1], a.where()); });
  functions.def_method("conj(self) -> Array", "The complex conjugate: numpy.ndarray.conj.",
                       [](const Arguments& a) { return a.array(0).conj(a.where()); });
  functions.def_method(
      "__complex__(self) -> complex", "The only element as a complex number.",
      [](const Arguments& a) {
        const nb::object value = item(a.array(0), a.where());
        return nb::object(nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(value));
      });
  functions.def_method("__array_namespace__(self, /, *, api_version: str | None = None) -> Any",
                       "The module, for code that works with any array library.",
                       [](const Arguments& a) {
                         if (!a.is_none(1)) {
                           const std::string version = a.text(1);
                           if (version.substr(0, 4) < "2021" || version > "2024.12") {
                             raise(PyExc_ValueError, "there is no array API version " + version +
                                                         " here; the newest is 2024.12");
                           }
                         }
                         return nb::object(nb::module_::import_("heddle"));
                       });
  functions.def_method(
      "__format__(self, spec: str, /) -> str",
      "The only element formatted as a Python number; of other arrays str(), which takes no spec.",
      [](const Arguments& a) {
        const Array& array = a.array(0);
        if (array.ndim() == 0) {
          const nb::object value = item(array, a.where());
          return nb::object(nb::steal(PyObject_Format(value.ptr(), a[1].ptr())));
        }
        if (!a.text(1).empty()) {
          raise(PyExc_TypeError,
                "an Array of more dimensions than 0 takes no format; index it, or "
                "use heddle.set_printoptions");
        }
        return nb::object(nb::str(a[0]));
      });
  functions.def_method(
      "__round__(self, ndigits: int | None = None, /) -> Array | int",
      "round(x): an int of a 0-d array; round(x, n): heddle.round, of any array.",
      [](const Arguments& a) {
        if (!a.is_none(1))
          return wrap(heddle::round({a.array(0), a.where()}, static_cast<int>(a.integer(1))));
        const nb::object value = item(a.array(0), a.where());
        const nb::object rounded = value.attr("__round__")();
        return rounded;
      });
  functions.def_method(
      "__reduce__(self) -> tuple",
      "For pickle, by way of a NumPy array: the elements, not the device.", [](const Arguments& a) {
        const nb::object make = nb::module_::import_("heddle").attr("asarray");
        return nb::object(nb::make_tuple(make, nb::make_tuple(to_numpy(a.array(0), a.where()))));
      });
  functions.def_method("__copy__(self) -> Array", "An array of its own, with the same elements.",
                       [](const Arguments& a) { return a.array(0); });
  functions.def_method("__deepcopy__(self, memo: dict | None = None, /) -> Array",
                       "An array of its own, with the same elements.",
                       [](const Arguments& a) { return a.array(0); });
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
