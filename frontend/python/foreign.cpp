#include "frontend/python/foreign.h"

#include <string>

#include <fmt/format.h>

#include "heddle/settings.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/python/arguments.h"
#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "ir/base/environment.h"
#include "runtime/device/backend.h"
#include "runtime/device/device.h"

namespace heddle::python {

namespace {

/// numpy.ndarray and numpy.generic, once NumPy is imported. Kept for the lifetime of the process.
struct NumpyTypes {
  PyObject* array = nullptr;
  PyObject* scalar = nullptr;
};

const NumpyTypes* numpy_types() {
  static NumpyTypes types;
  if (types.array != nullptr) return &types;
  const nb::object name = nb::str("numpy");
  const nb::object module = nb::steal(PyImport_GetModule(name.ptr()));
  if (!module.is_valid()) {
    PyErr_Clear();
    return nullptr;
  }
  // While NumPy is being imported, it has neither attribute.
  if (!nb::hasattr(module, "ndarray") || !nb::hasattr(module, "generic")) return nullptr;
  types.scalar = nb::object(module.attr("generic")).release().ptr();
  types.array = nb::object(module.attr("ndarray")).release().ptr();
  return &types;
}

bool is_builtin(nb::handle value) {
  PyObject* const object = value.ptr();
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         PyComplex_CheckExact(object) || PyUnicode_Check(object) || object == Py_None;
}

bool is_instance(nb::handle value, PyObject* NumpyTypes::* type) {
  if (is_builtin(value)) return false;
  const NumpyTypes* const types = numpy_types();
  return types != nullptr && PyObject_IsInstance(value.ptr(), types->*type) == 1;
}

enum class HostArrays : std::uint8_t { allow, warn, forbid };

/// HEDDLE_HOST_ARRAYS; by default `warn` on a GPU, so that transfers are noticed.
HostArrays host_arrays() {
  const std::string text(ir::environment(ir::Variable::host_arrays));
  if (text == "allow") return HostArrays::allow;
  if (text == "warn") return HostArrays::warn;
  if (text == "forbid") return HostArrays::forbid;
  if (!text.empty()) {
    raise(PyExc_ValueError,
          fmt::format("HEDDLE_HOST_ARRAYS is '{}'; it must be 'allow', 'warn' or 'forbid'", text));
  }
  const bool on_host = runtime::capabilities_of(runtime::current_device()).host_memory;
  return on_host ? HostArrays::allow : HostArrays::warn;
}

void announce(nb::handle array) {
  const HostArrays rule = host_arrays();
  if (rule == HostArrays::allow) return;
  const std::string message = fmt::format(
      "an Array is combined with a {}, whose elements are copied to {} at each use; convert it "
      "once with heddle.asarray",
      describe_type(array), device());
  if (rule == HostArrays::forbid) {
    raise(PyExc_TypeError, message + " (HEDDLE_HOST_ARRAYS=forbid)");
  }
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) < 0) throw nb::python_error();
}

Array scalar_operand(nb::handle value, const SourceLocation& where) {
  if (PyFloat_Check(value.ptr()) != 0) {  // numpy.float64
    const ir::ElementBits bits = frontend::bits_of(DType::f64, PyFloat_AS_DOUBLE(value.ptr()));
    return frontend::Access::make(frontend::record_scalar(DType::f64, bits, false));
  }
  const nb::object foreign = value.attr("dtype");
  const auto dtype = as_dtype(foreign);
  if (!dtype) refuse_numpy_dtype(describe_type(value), foreign);
  PyObject* const type = reinterpret_cast<PyObject*>(is_complex(*dtype)    ? &PyComplex_Type
                                                     : is_floating(*dtype) ? &PyFloat_Type
                                                     : is_boolean(*dtype)  ? &PyBool_Type
                                                                           : &PyLong_Type);
  const Scalar scalar = *as_scalar(nb::handle(type)(value));
  const ir::ElementBits bits = frontend::scalar_bits("asarray", scalar, *dtype, where);
  return frontend::Access::make(frontend::record_scalar(*dtype, bits, false));
}

}  // namespace

bool is_numpy_array(nb::handle value) { return is_instance(value, &NumpyTypes::array); }
bool is_numpy_scalar(nb::handle value) { return is_instance(value, &NumpyTypes::scalar); }

bool defines_operators(nb::handle value) {
  if (is_builtin(value) || as_array(value.ptr()) != nullptr) return false;
  const nb::handle type = value.type();
  const NumpyTypes* const types = numpy_types();
  if (types != nullptr && type.ptr() == types->array) return false;
  if (!nb::hasattr(type, "__array_ufunc__")) return false;
  if (is_numpy_scalar(value)) return false;
  if (!is_numpy_array(value)) return true;
  const nb::object inherited = nb::handle(types->array).attr("__array_ufunc__");
  return !nb::object(type.attr("__array_ufunc__")).is(inherited) || nb::hasattr(value, "mask");
}

std::optional<Array> numpy_operand(nb::handle value, const SourceLocation& where) {
  if (is_numpy_scalar(value)) return scalar_operand(value, where);
  if (!is_numpy_array(value)) return std::nullopt;
  announce(value);
  return from_python(value, std::nullopt, where);
}

std::optional<nb::object> exchanged_operand(nb::handle value, const SourceLocation& where) {
  if (is_numpy_array(value) || is_numpy_scalar(value)) return std::nullopt;
  return from_exchange(value, nb::none(), where);
}

bool is_numpy_argument(nb::handle value) {
  if (is_numpy_array(value)) return true;
  if (!is_numpy_scalar(value)) return false;
  const auto dtype = as_dtype(value.attr("dtype"));
  return dtype && (is_floating(*dtype) || is_complex(*dtype));
}

std::optional<Array> foreign_operand(nb::handle value, const SourceLocation& where) {
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyRange_Check(value.ptr()))
    return from_python(value, std::nullopt, where);
  return numpy_operand(value, where);
}

}  // namespace heddle::python
