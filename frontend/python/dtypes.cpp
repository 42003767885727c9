#include "frontend/python/dtypes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/foreign.h"
#include "runtime/device/device.h"

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

/// Parses NumPy's dtype codes ('<f4', 'i8', '?') and its older names.
std::optional<DType> from_code(std::string_view code) {
  static const std::unordered_map<std::string_view, DType> codes = {
      {"?", DType::boolean},   {"b1", DType::boolean},   {"b", DType::i8},
      {"i1", DType::i8},       {"h", DType::i16},        {"i2", DType::i16},
      {"i", DType::i32},       {"i4", DType::i32},       {"l", DType::i64},
      {"q", DType::i64},       {"i8", DType::i64},       {"p", DType::i64},
      {"B", DType::u8},        {"u1", DType::u8},        {"H", DType::u16},
      {"u2", DType::u16},      {"I", DType::u32},        {"u4", DType::u32},
      {"L", DType::u64},       {"Q", DType::u64},        {"u8", DType::u64},
      {"P", DType::u64},       {"n", DType::i64},        {"N", DType::u64},
      {"e", DType::f16},       {"f2", DType::f16},       {"f", DType::f32},
      {"f4", DType::f32},      {"d", DType::f64},        {"f8", DType::f64},
      {"F", DType::c64},       {"c8", DType::c64},       {"D", DType::c128},
      {"c16", DType::c128},    {"bool", DType::boolean}, {"int", DType::i64},
      {"int_", DType::i64},    {"intp", DType::i64},     {"uint", DType::u64},
      {"uintp", DType::u64},   {"half", DType::f16},     {"float", DType::f64},
      {"single", DType::f32},  {"double", DType::f64},   {"complex", DType::c128},
      {"csingle", DType::c64}, {"cdouble", DType::c128}, {"byte", DType::i8},
      {"ubyte", DType::u8},    {"short", DType::i16},    {"ushort", DType::u16},
      {"intc", DType::i32},    {"uintc", DType::u32},    {"long", DType::i64},
      {"ulong", DType::u64},   {"longlong", DType::i64}, {"ulonglong", DType::u64}};
  // Native byte order, or byte order not applicable.
  if (code.starts_with('<') || code.starts_with('=') || code.starts_with('|'))
    code.remove_prefix(1);
  const auto found = codes.find(code);
  return found == codes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<DType> from_text(nb::handle value) {
  const std::string text = text_of(value);
  if (const auto dtype = from_numpy_name(text)) return dtype;
  return from_code(text);
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

nb::object numpy_dtype(DType dtype) {
  const nb::object make = nb::module_::import_("numpy").attr("dtype");
  if (dtype == DType::bf16) return make(nb::module_::import_("ml_dtypes").attr("bfloat16"));
  return make(numpy_name_of(dtype).data());
}

nb::object to_python(DType dtype) { return nb::borrow(objects[static_cast<std::size_t>(dtype)]); }

std::optional<DType> as_dtype(nb::handle value) {
  if (nb::isinstance<DTypeObject>(value)) return nb::inst_ptr<DTypeObject>(value)->dtype;
  if (const auto dtype = from_python_type(value)) return dtype;
  // NumPy's dtypes and scalar types; ml_dtypes' bfloat16 is a scalar type.
  if (PyType_Check(value.ptr())) {
    const std::string module = text_of(value.attr("__module__"));
    if (module != "numpy" && module != "ml_dtypes") return std::nullopt;
    const std::string name = text_of(value.attr("__name__"));
    if (const auto dtype = from_numpy_name(name)) return dtype;
    return name.ends_with("longlong") ? from_code(name) : std::nullopt;
  }
  // NumPy has one object, which stays, for each of its own dtypes. To ask it for its name takes
  // longer than an operation on a scalar.
  static std::vector<std::pair<PyObject*, DType>> builtin;
  const auto known = std::ranges::find(builtin, value.ptr(), &std::pair<PyObject*, DType>::first);
  if (known != builtin.end()) return known->second;
  const std::string type = text_of(value.type().attr("__module__"));
  if (!type.starts_with("numpy") || !nb::hasattr(value, "kind")) return std::nullopt;
  const auto dtype = from_numpy_name(text_of(value.attr("name")));
  if (dtype && nb::cast<int>(value.attr("isbuiltin")) == 1) {
    Py_INCREF(value.ptr());
    builtin.emplace_back(value.ptr(), *dtype);
  }
  return dtype;
}

void refuse_numpy_dtype(std::string_view function, nb::handle dtype) {
  static const std::unordered_map<std::string_view, const char*> advice = {
      {"U", "text; convert it to numbers first, with numpy.asarray(x).astype(float)"},
      {"S",
       "bytes; convert them to numbers first, with numpy.frombuffer(x, numpy.uint8) or "
       "astype(float)"},
      {"T", "text; convert it to numbers first, with numpy.asarray(x).astype(float)"},
      {"O", "Python objects; pass only numbers, or use numpy.asarray(x, dtype=float)"},
      {"M", "dates; convert them to integers with x.astype('int64')"},
      {"m", "durations; convert them to integers with x.astype('int64')"},
      {"V", "structured; convert each field to an Array, such as x['name']"},
      {"f", "wider than float64; use x.astype('float64')"},
      {"c", "wider than complex128; use x.astype('complex128')"}};
  const std::string kind = text_of(dtype.attr("kind"));
  const auto found = advice.find(kind);
  raise(PyExc_TypeError,
        fmt::format("{}: heddle has no equivalent of NumPy's dtype {}{}", function, text_of(dtype),
                    found == advice.end() ? "" : fmt::format(", which is {}", found->second)));
}

DType to_dtype(nb::handle value) {
  if (const auto dtype = as_dtype(value)) return *dtype;
  if (nb::isinstance<nb::str>(value)) {
    if (const auto dtype = from_text(value)) return *dtype;
  }
  raise(PyExc_TypeError,
        fmt::format("heddle has no dtype {}; it has bool, int8 to int64, uint8 to uint64, float16, "
                    "bfloat16, float32, float64, complex64 and complex128",
                    text_of(nb::repr(value))));
}

Casting to_casting(std::string_view function, nb::handle value) {
  static const std::unordered_map<std::string_view, Casting> castings = {
      {"no", Casting::equiv},
      {"equiv", Casting::equiv},
      {"safe", Casting::safe},
      {"same_kind", Casting::same_kind},
      {"unsafe", Casting::unsafe}};
  if (!nb::isinstance<nb::str>(value)) {
    raise(PyExc_TypeError, fmt::format("{}: casting must be a string", function));
  }
  const std::string text = text_of(value);
  const auto found = castings.find(text);
  if (found != castings.end()) return found->second;
  raise(PyExc_ValueError,
        fmt::format("{}: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not '{}'",
                    function, text));
}

namespace {

nb::object as_array_of(nb::handle value, DType dtype) {
  return nb::module_::import_("heddle._heddle").attr("asarray")(value, to_python(dtype));
}

/// A 0-d value of a number, whose bits the host keeps: a RawKernel takes it by value.
nb::object value_of_number(nb::handle number, DType dtype) {
  ir::ElementBits bits;
  {
    const runtime::DeviceScope host(runtime::Device{});
    const nb::object made = as_array_of(number, dtype);
    const frontend::NodeRef& node = frontend::Access::raw(as_array(made)->base().value);
    const std::byte* const element = frontend::elements_on_host(*node);
    if (element == nullptr) return {};
    std::memcpy(bits.bytes(), element, size_of(dtype));
  }
  const frontend::NodeRef node = frontend::record_scalar(dtype, bits, false);
  frontend::evaluate(node);
  return wrap(frontend::Access::make(node));
}

/// A NumPy scalar in the dtype, where NumPy and Heddle agree on that; the value itself otherwise.
nb::object as_number(nb::handle value, DType dtype) {
  const bool other = !is_numpy_scalar(value) || dtype == DType::bf16;
  if (other) return nb::borrow(value);
  const std::string kind = text_of(value.attr("dtype").attr("kind"));
  const bool whole = kind == "b" || kind == "i" || kind == "u";
  const bool exact =
      whole || (kind == "f" && !is_integer(dtype)) || (kind == "c" && is_complex(dtype));
  if (!exact) return nb::borrow(value);
  return nb::object(value.attr("astype")(numpy_dtype(dtype)));
}

bool is_number(nb::handle value) {
  return is_numpy_scalar(value) || PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
         PyComplex_Check(value.ptr());
}

nb::object converted_to(DType dtype, nb::handle value) {
  nb::object given = nb::borrow(value);
  if (nb::isinstance<nb::str>(value)) {
    PyTypeObject* const type = is_complex(dtype)    ? &PyComplex_Type
                               : is_floating(dtype) ? &PyFloat_Type
                               : is_boolean(dtype)  ? &PyBool_Type
                                                    : &PyLong_Type;
    given = nb::handle(reinterpret_cast<PyObject*>(type))(value);
  }
  given = as_number(given, dtype);
  if (is_number(given) && !frontend::tracing()) {
    if (nb::object number = value_of_number(given, dtype); number.is_valid()) return number;
  }
  const nb::object made = as_array_of(given, dtype);
  const ArrayObject& array = *as_array(made);
  return array.read().ndim() == 0 ? wrap(array.read()) : made;
}

nb::str name_object(const DTypeObject& object) {
  const std::string_view name = numpy_name_of(object.dtype);
  return nb::str(name.data(), name.size());
}

}  // namespace

void bind_dtypes(nb::module_& module) {
  nb::class_<DTypeObject>(
      module, "DType",
      "An element type, such as heddle.float32. It equals everything that dtype= arguments accept "
      "for it: NumPy's dtypes, scalar types, names and codes, and Python's bool, int, float and "
      "complex. heddle.dtype(x) converts such a value: dtype('f4') is heddle.float32. Raises "
      "TypeError for a dtype that Heddle does not have.")
      .def(nb::new_([](nb::handle dtype) {
             return to_python(dtype.is_none() ? DType::f64 : to_dtype(dtype));
           }),
           nb::arg("dtype").none())
      .def_prop_ro(
          "name", [](const DTypeObject& d) { return name_object(d); },
          "NumPy's name of the dtype: 'float32'.")
      .def_prop_ro(
          "itemsize", [](const DTypeObject& d) { return size_of(d.dtype); },
          "Size of an element in bytes.")
      .def_prop_ro(
          "kind", [](const DTypeObject& d) { return nb::str(kind_of(d.dtype)); },
          "NumPy's kind code: 'b', 'i', 'u', 'f' or 'c'.")
      .def("__repr__",
           [](const DTypeObject& d) {
             return nb::str(fmt::format("heddle.{}", numpy_name_of(d.dtype)).c_str());
           })
      .def("__str__", [](const DTypeObject& d) { return name_object(d); })
      .def("__reduce__", [](const DTypeObject& d) { return name_object(d); })
      .def(
          "__eq__",
          [](const DTypeObject& d, nb::handle other) {
            auto same = as_dtype(other);
            if (!same && nb::isinstance<nb::str>(other)) same = from_text(other);
            return same == d.dtype;
          },
          nb::arg("other").none())
      .def("__hash__", [](const DTypeObject& d) { return nb::hash(name_object(d)); })
      .def(
          "__getattr__",
          [](const DTypeObject& d, nb::str name) {
            if (std::string_view(name.c_str()).starts_with("__")) {
              raise(PyExc_AttributeError, fmt::format("DType has no attribute {}", name.c_str()));
            }
            return nb::object(numpy_dtype(d.dtype).attr(name));
          },
          "Other attributes of NumPy's dtype: char, type, str, num, alignment and more.")
      .def(
          "__call__",
          [](const DTypeObject& d, nb::handle value) { return converted_to(d.dtype, value); },
          nb::arg("value") = nb::int_(0),
          "The value converted to this dtype, like a call of NumPy's scalar type: "
          "heddle.uint8(100). A number becomes a 0-d Array.")
      .def_prop_ro(
          "dtype", [](const DTypeObject& d) { return numpy_dtype(d.dtype); },
          "NumPy's dtype, for numpy.dtype(). For bfloat16 it is the dtype of the package "
          "ml_dtypes.");
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    objects[static_cast<std::size_t>(i)] = nb::cast(DTypeObject{dtype}).release().ptr();
    module.attr(numpy_name_of(dtype).data()) = to_python(dtype);
  }
}

}  // namespace heddle::python
