#include "frontend/python/dtypes.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

std::array<PyObject*, dtype_count> objects;

std::string text_of(nb::handle value) { return nb::str(value).c_str(); }

std::optional<DType> from_numpy_name(std::string_view name) {
  if (name == "bool_") return DType::boolean;
  for (int i = 0; i < dtype_count; ++i) {
    if (numpy_name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> from_python_type(nb::handle value) {
  if (value.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::boolean;
  if (value.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::i64;
  if (value.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::f64;
  if (value.ptr() == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::c128;
  return std::nullopt;
}

const char* kind_of(DType dtype) {
  if (is_boolean(dtype)) return "b";
  if (is_integer(dtype)) return is_signed_integer(dtype) ? "i" : "u";
  return is_complex(dtype) ? "c" : "f";
}

}  // namespace

nb::object to_python(DType dtype) { return nb::borrow(objects[static_cast<std::size_t>(dtype)]); }

std::optional<DType> as_dtype(nb::handle value) {
  if (nb::isinstance<DTypeObject>(value)) return nb::inst_ptr<DTypeObject>(value)->dtype;
  if (const auto dtype = from_python_type(value)) return dtype;
  // NumPy's dtypes and scalar types; ml_dtypes' bfloat16 is one of the latter.
  if (PyType_Check(value.ptr())) {
    const std::string module = text_of(value.attr("__module__"));
    if (module != "numpy" && module != "ml_dtypes") return std::nullopt;
    return from_numpy_name(text_of(value.attr("__name__")));
  }
  const std::string type = text_of(value.type().attr("__module__"));
  if (!type.starts_with("numpy") || !nb::hasattr(value, "kind")) return std::nullopt;
  return from_numpy_name(text_of(value.attr("name")));
}

DType to_dtype(nb::handle value) {
  if (const auto dtype = as_dtype(value)) return *dtype;
  if (nb::isinstance<nb::str>(value)) {
    if (const auto dtype = from_numpy_name(nb::borrow<nb::str>(value).c_str())) return *dtype;
  }
  raise(PyExc_TypeError, "heddle has no dtype " + text_of(nb::repr(value)) +
                             "; use heddle.float32 or its like, or its name");
}

namespace {

nb::str name_object(const DTypeObject& object) {
  const std::string_view name = numpy_name_of(object.dtype);
  return nb::str(name.data(), name.size());
}

}  // namespace

void bind_dtypes(nb::module_& module) {
  nb::class_<DTypeObject>(module, "DType",
                          "An element type: heddle.float32 and its like. Compares equal to itself "
                          "only; dtype= arguments also take NumPy's dtypes and names.")
      .def_prop_ro(
          "name", [](const DTypeObject& d) { return name_object(d); },
          "The name that NumPy gives it: 'float32'.")
      .def_prop_ro(
          "itemsize", [](const DTypeObject& d) { return size_of(d.dtype); }, "Bytes of an element.")
      .def_prop_ro(
          "kind", [](const DTypeObject& d) { return nb::str(kind_of(d.dtype)); },
          "'b', 'i', 'u', 'f' or 'c', as in NumPy.")
      .def("__repr__",
           [](const DTypeObject& d) {
             return nb::str(fmt::format("heddle.{}", numpy_name_of(d.dtype)).c_str());
           })
      .def("__str__", [](const DTypeObject& d) { return name_object(d); })
      .def("__reduce__", [](const DTypeObject& d) { return name_object(d); });
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    objects[static_cast<std::size_t>(i)] = nb::cast(DTypeObject{dtype}).release().ptr();
    module.attr(numpy_name_of(dtype).data()) = to_python(dtype);
  }
}

}  // namespace heddle::python
