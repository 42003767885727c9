#include "frontend/python/arguments.h"

#include <cctype>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/joining.h"

#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {

ArrayObject* as_array(nb::handle value) {
  // ArrayObject's Python type cannot be subclassed, so an exact comparison is enough.
  static const nb::handle type = nb::type<ArrayObject>();
  return value.type().is(type) ? nb::inst_ptr<ArrayObject>(value) : nullptr;
}

std::optional<Scalar> as_scalar(nb::handle value) {
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyFloat_Check(object)) return Scalar(PyFloat_AS_DOUBLE(object));
  if (PyComplex_Check(object)) {
    return Scalar(std::complex(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  }
  if (!PyLong_Check(object)) return std::nullopt;
  int overflow = 0;
  const std::int64_t integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return Scalar(integer);
  if (overflow > 0) {
    const std::uint64_t large = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() == nullptr) return Scalar(large);
    PyErr_Clear();
  }
  const double nearest = PyLong_AsDouble(object);
  if (PyErr_Occurred() == nullptr) return Scalar::large_integer(nearest);
  PyErr_Clear();  // does not fit float64
  return Scalar::large_integer(overflow > 0 ? HUGE_VAL : -HUGE_VAL);
}

bool is_integer(nb::handle value) {
  if (PyIndex_Check(value.ptr()) == 0) return false;
  if (const ArrayObject* array = as_array(value)) {
    const Array& x = array->read();
    return x.ndim() == 0 && !is_inexact(x.dtype());
  }
  if (PySequence_Check(value.ptr()) == 0) return true;
  const bool is_0d = PySequence_Size(value.ptr()) < 0;
  if (is_0d) PyErr_Clear();
  return is_0d;
}

std::int64_t to_integer(nb::handle value) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const std::int64_t result = PyLong_AsLongLong(index.ptr());
  if (result == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return result;
}

namespace {

/// Raises TypeError, beginning with `rule`, for a bool or a sequence that contains one.
void check_no_bools(nb::handle value, const char* rule) {
  if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) {
    for (nb::handle each : nb::borrow(value)) check_no_bools(each, rule);
  } else if (PyBool_Check(value.ptr())) {
    raise(PyExc_TypeError, fmt::format("{}, not a bool; write int(...)", rule));
  }
}

}  // namespace

void check_extents(nb::handle shape) {
  check_no_bools(shape, "the extents of a shape must be integers");
}

std::string utf8_of(nb::handle value) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

std::string describe_type(nb::handle value) {
  const std::string type = nb::str(nb::handle(value.type()).attr("__name__")).c_str();
  const std::string module = nb::str(nb::handle(value.type()).attr("__module__")).c_str();
  return module == "builtins" ? type : module + "." + type;
}

std::string describe_foreign(nb::handle value) {
  const bool convertible = nb::hasattr(value, "__array__") || nb::hasattr(value, "__dlpack__") ||
                           nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  return describe_type(value) + (convertible ? "; convert it with heddle.asarray" : "");
}

void Arguments::mistyped(std::size_t i, const char* wanted) const {
  raise(PyExc_TypeError,
        fmt::format("{}: {} must be {}, not {} ({}:{})", signature_.name,
                    signature_.parameters[i].name, wanted, describe_foreign(values_[i]),
                    where_.file_name(), where_.line()));
}

ArrayObject* Arguments::converted(std::size_t i, bool numbers) const {
  for (auto& [parameter, array] : converted_) {
    if (parameter == i) return &array;
  }
  const nb::handle value = values_[i];
  std::optional<Array> made = foreign_operand(value, where_);
  if (!made && as_scalar(value)) {
    if (!numbers) return nullptr;
    made = from_python(value, std::nullopt, where_);
  }
  if (made) return &converted_.emplace_back(i, ArrayObject(*std::move(made))).second;
  const std::optional<nb::object> shared = exchanged_operand(value, where_);
  if (!shared) return nullptr;
  return &converted_.emplace_back(i, std::move(*as_array(*shared))).second;
}

Operand Arguments::operand(std::size_t i) const {
  if (const ArrayObject* array = as_array(values_[i])) return {array->read(where_), where_};
  if (const ArrayObject* array = converted(i, false)) return {array->read(where_), where_};
  if (const auto scalar = as_scalar(values_[i])) return {*scalar, where_};
  mistyped(i, "an Array or a number");
}

ArrayObject& Arguments::object(std::size_t i) const {
  if (ArrayObject* array = as_array(values_[i])) return *array;
  if (ArrayObject* array = converted(i, true)) return *array;
  mistyped(i, "an Array or a number");
}

ArrayObject& Arguments::target(std::size_t i) const {
  if (ArrayObject* array = as_array(values_[i])) return *array;
  mistyped(i, "an Array, which is written to");
}

std::vector<Array> Arguments::arrays(std::size_t i) const {
  if (as_array(values_[i]) != nullptr && array(i).ndim() > 0) return unstack(operand(i), 0);
  if (PySequence_Check(values_[i]) == 0) mistyped(i, "a sequence of Arrays");
  const nb::object sequence = nb::steal(PySequence_Fast(values_[i], ""));
  if (!sequence.is_valid()) throw nb::python_error();
  std::vector<Array> result;
  for (nb::handle each : sequence) {
    if (const ArrayObject* array = as_array(each)) {
      result.push_back(array->read(where_));
    } else if (const auto foreign = foreign_operand(each, where_)) {
      result.push_back(*foreign);
    } else if (as_scalar(each)) {
      result.push_back(from_python(each, std::nullopt, where_));
    } else if (const auto shared = exchanged_operand(each, where_)) {
      result.push_back(as_array(*shared)->read(where_));
    } else {
      raise(PyExc_TypeError, fmt::format("{}: {} must be Arrays, not {}", signature_.name,
                                         signature_.parameters[i].name, describe_foreign(each)));
    }
  }
  return result;
}

std::vector<std::int64_t> Arguments::integers(std::size_t i) const {
  const nb::handle value = values_[i];
  if (is_integer(value)) return {to_integer(value)};
  if (PySequence_Check(value.ptr()) == 0) mistyped(i, "an integer or a tuple of integers");
  const ArrayObject* array = as_array(value);
  const nb::object items =
      array == nullptr ? nb::borrow(value) : to_list(array->read(where_), where_);
  std::vector<std::int64_t> result;
  for (nb::handle each : items) result.push_back(to_integer(each));
  return result;
}

std::vector<std::int64_t> Arguments::variadic_integers(std::size_t i) const {
  const nb::tuple given = nb::borrow<nb::tuple>(values_[i]);
  if (given.size() == 1 && given[0].is_none()) return {};
  if (given.size() != 1 || PyIndex_Check(nb::handle(given[0]).ptr()) != 0) return integers(i);
  std::vector<std::int64_t> result;
  for (nb::handle each : nb::object(given[0])) result.push_back(to_integer(each));
  return result;
}

Shape Arguments::shape(std::size_t i) const {
  check_extents(values_[i]);
  return integers(i);
}

Axes Arguments::axes(std::size_t i) const { return is_none(i) ? Axes() : Axes(integers(i)); }

Axes Arguments::reduced_axes(std::size_t i) const {
  check_no_bools(values_[i], "an axis must be an integer");
  return axes(i);
}

std::int64_t Arguments::integer(std::size_t i) const {
  if (!is_integer(values_[i])) mistyped(i, "an integer");
  return to_integer(values_[i]);
}

std::optional<std::int64_t> Arguments::optional_integer(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return integer(i);
}

double Arguments::number(std::size_t i) const {
  const double value = PyFloat_AsDouble(values_[i]);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    mistyped(i, "a number");
  }
  return value;
}

Scalar Arguments::scalar(std::size_t i) const {
  if (const auto scalar = as_scalar(values_[i])) return *scalar;
  if (is_integer(values_[i])) return to_integer(values_[i]);
  const ArrayObject* array = as_array(values_[i]);
  if (array == nullptr) array = converted(i, false);
  return array != nullptr ? *as_scalar(item(array->read(where_), where_)) : Scalar(number(i));
}

bool Arguments::flag(std::size_t i) const {
  const int truth = PyObject_IsTrue(values_[i]);
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

std::string Arguments::text(std::size_t i) const {
  if (!nb::isinstance<nb::str>(values_[i])) mistyped(i, "a string");
  return utf8_of(values_[i]);
}

char Arguments::order(std::size_t i, char fallback) const {
  if (is_none(i)) return fallback;
  const std::string name = text(i);
  const char letter = name.size() == 1 ? static_cast<char>(std::toupper(name[0])) : '?';
  if (letter != 'C' && letter != 'F' && letter != 'A' && letter != 'K') {
    raise(PyExc_ValueError,
          fmt::format("{}: order must be 'C', 'F', 'A' or 'K', not '{}'", signature_.name, name));
  }
  return letter;
}

void Arguments::check_like(std::size_t i) const {
  if (!is_none(i) && as_array(values_[i]) == nullptr) mistyped(i, "None or an Array");
}

Array Arguments::optional_array(std::size_t i) const { return is_none(i) ? Array() : array(i); }

Array Arguments::optional_values(std::size_t i) const {
  return is_none(i) ? Array() : asarray(operand(i));
}

std::optional<Scalar> Arguments::optional_scalar(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  if (const ArrayObject* array = as_array(values_[i])) {
    return as_scalar(item(array->read(where_), where_));
  }
  return scalar(i);
}

Array Arguments::mask(std::size_t i) const {
  if (values_[i] == Py_True || is_none(i)) return {};
  if (values_[i] == Py_False) return zeros({}, DType::boolean, where_);
  return array(i);
}

Places Arguments::places(std::size_t i) const {
  if (is_integer(values_[i])) return to_integer(values_[i]);
  return integers(i);
}

std::optional<DType> Arguments::dtype(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  return to_dtype(values_[i]);
}

std::optional<Precision> Arguments::precision(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  const std::string name = text(i);
  const std::optional<Precision> precision = precision_from_name(name);
  if (!precision) {
    throw ValueError(fmt::format(
        "unknown precision of matrix products '{}'; use 'ieee', 'tf32' or 'bf16'", name));
  }
  return precision;
}

}  // namespace heddle::python
