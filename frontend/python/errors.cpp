#include "frontend/python/errors.h"

#include <new>
#include <stdexcept>
#include <string_view>
#include <typeinfo>

#include "heddle/axis_error.h"
#include "heddle/communication_error.h"
#include "heddle/error.h"

#include "frontend/linalg/unequal_rows_error.h"
#include "frontend/python/python_call_error.h"
#include "runtime/base/interrupt.h"

namespace heddle::python {
namespace {

/// The Python class of each C++ exception, in the order of heddle/error.h.
struct Classes {
  PyObject *base, *shape, *dtype, *index, *axis, *value, *linalg, *linalg_shape, *trace, *device,
      *communication, *memory, *compile, *file, *trust, *parse, *internal;
} classes;

PyObject* derive(nb::module_& module, const char* name, const char* documentation,
                 const nb::tuple& bases) {
  const std::string full = std::string("heddle.") + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), documentation, bases.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  module.attr(name) = nb::handle(made);
  return made;
}

template <class... Builtin>
PyObject* make_class(nb::module_& module, const char* name, const char* documentation,
                     Builtin*... builtin) {
  return derive(module, name, documentation,
                classes.base == nullptr
                    ? nb::make_tuple(nb::handle(builtin)...)
                    : nb::make_tuple(nb::handle(classes.base), nb::handle(builtin)...));
}

void set(PyObject* type, const std::exception& error) { PyErr_SetString(type, error.what()); }

/// NumPy's AxisError has the axis and the number of axes. To make one runs code of Python's, which
/// may raise something itself.
void set_axis_error(const AxisError& error) try {
  const nb::object made = nb::handle(classes.axis)(error.what());
  made.attr("axis") = error.axis();
  made.attr("ndim") = error.ndim();
  PyErr_SetObject(classes.axis, made.ptr());
} catch (nb::python_error& raised) {
  raised.restore();
}

/// Whether a function of linalg threw: messages begin with the function's name.
bool is_of_linalg(const std::exception& error) {
  return std::string_view(error.what()).starts_with("linalg.");
}

/// Sets the exception raised by a signal handler as Python's current error.
void restore(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (nb::python_error& error) {
    error.restore();
  }
}

}  // namespace

void bind_errors(nb::module_& module) {
  classes.base =
      make_class(module, "Error", "Base class of all errors that Heddle raises.", PyExc_Exception);
  classes.shape =
      make_class(module, "ShapeError",
                 "Shapes that do not broadcast, cannot be reshaped, or do not match along an axis.",
                 PyExc_ValueError);
  classes.dtype = make_class(module, "DTypeError",
                             "An op that does not support a dtype (a TypeError in NumPy), or a "
                             "Python number that does not fit a dtype (an OverflowError in NumPy).",
                             PyExc_TypeError, PyExc_OverflowError);
  classes.index =
      make_class(module, "IndexError", "An index, slice or axis out of range.", PyExc_IndexError);
  classes.value =
      make_class(module, "ValueError", "An argument with an invalid value.", PyExc_ValueError);
  // Programs catch NumPy's classes.
  const nb::object axis = nb::module_::import_("numpy.exceptions").attr("AxisError");
  classes.axis = derive(module, "AxisError", "An axis out of range: a numpy.exceptions.AxisError.",
                        nb::make_tuple(nb::handle(classes.value), nb::handle(classes.index), axis));
  const nb::object linalg = nb::module_::import_("numpy.linalg").attr("LinAlgError");
  classes.linalg = make_class(module, "LinAlgError",
                              "A matrix for which the factorisation or solution does not exist: a "
                              "numpy.linalg.LinAlgError.",
                              linalg.ptr());
  classes.linalg_shape =
      derive(module, "LinAlgShapeError",
             "Shapes that a function of linalg does not take, for which NumPy raises LinAlgError.",
             nb::make_tuple(nb::handle(classes.shape), nb::handle(classes.linalg)));
  classes.trace =
      make_class(module, "TraceError", "A value was read inside a trace.", PyExc_RuntimeError);
  classes.device = make_class(module, "DeviceError",
                              "A device, driver or library is missing, or a call to it failed.",
                              PyExc_RuntimeError);
  classes.communication = PyErr_NewExceptionWithDoc(
      "heddle.CommunicationError",
      "An exchange among processes failed, or took longer than the communicator's time-out.",
      classes.device, nullptr);
  if (classes.communication == nullptr) throw nb::python_error();
  module.attr("CommunicationError") = nb::handle(classes.communication);
  classes.memory =
      make_class(module, "OutOfMemory",
                 "An allocation failed, also after free memory was returned from the pools.",
                 PyExc_MemoryError);
  classes.compile =
      make_class(module, "CompileError",
                 "Generated source did not compile; the message contains the log and the source.",
                 PyExc_RuntimeError);
  classes.file = make_class(module, "FileError",
                            "A file given by the user cannot be read or written.", PyExc_OSError);
  classes.trust = PyErr_NewExceptionWithDoc("heddle.TrustError",
                                            "A file of native code that other users may have "
                                            "written, or that is not signed with HEDDLE_CACHE_KEY.",
                                            classes.file, nullptr);
  if (classes.trust == nullptr) throw nb::python_error();
  module.attr("TrustError") = nb::handle(classes.trust);
  classes.parse =
      make_class(module, "ParseError", "Text that is not a valid graph.", PyExc_ValueError);
  classes.internal = make_class(module, "InternalError",
                                "A bug in Heddle, not an error of the user.", PyExc_RuntimeError);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      set_python_error();
    } catch (const runtime::Interrupted&) {
      set_python_error();
    }
  });
}

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const runtime::Interrupted& interrupted) {
    restore(interrupted.cause);
  } catch (const PythonCallError& error) {
    restore(error.cause);
  } catch (const frontend::UnequalRowsError& error) {
    set(classes.shape, error);
  } catch (const ShapeError& error) {
    set(is_of_linalg(error) ? classes.linalg_shape : classes.shape, error);
  } catch (const DTypeError& error) {
    set(classes.dtype, error);
  } catch (const AxisError& error) {
    set_axis_error(error);
  } catch (const IndexError& error) {
    set(classes.index, error);
  } catch (const ValueError& error) {
    set(classes.value, error);
  } catch (const LinAlgError& error) {
    set(classes.linalg, error);
  } catch (const TraceError& error) {
    set(classes.trace, error);
  } catch (const CommunicationError& error) {
    set(classes.communication, error);
  } catch (const DeviceError& error) {
    set(classes.device, error);
  } catch (const OutOfMemory& error) {
    set(classes.memory, error);
  } catch (const CompileError& error) {
    set(classes.compile, error);
  } catch (const TrustError& error) {
    set(classes.trust, error);
  } catch (const FileError& error) {
    set(classes.file, error);
  } catch (const ParseError& error) {
    set(classes.parse, error);
  } catch (const InternalError& error) {
    set(classes.internal, error);
  } catch (const Error& error) {
    set(classes.base, error);
  } catch (const std::bad_alloc& error) {
    set(PyExc_MemoryError, error);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "an argument has a type that the function does not accept");
  } catch (const std::exception& error) {
    set(PyExc_RuntimeError, error);
  }
}

}  // namespace heddle::python
