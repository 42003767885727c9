#include "frontend/python/function.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <structmember.h>  // PyMemberDef before Python 3.12

#include "frontend/array/promote.h"
#include "frontend/python/errors.h"
#include "frontend/python/ufunc.h"

namespace heddle::python {
namespace {

constexpr std::size_t most_parameters = 16;

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  const Function* function;
};

PyTypeObject* function_type = nullptr;

[[noreturn]] void mismatch(const Signature& signature, const std::string& what) {
  raise(PyExc_TypeError, fmt::format("{}{}: {}", signature.name, signature.text, what));
}

/// The values of one call, by parameter.
struct Bound {
  std::array<PyObject*, most_parameters> values{};
  nb::object variadic;  ///< the tuple of a *parameter
  nb::object keywords;  ///< the dict of a **parameter
};

void bind_positions(const Signature& signature, PyObject* const* args, std::size_t count,
                    Bound& bound) {
  const std::size_t named = std::min(count, signature.positional);
  for (std::size_t i = 0; i < named; ++i) bound.values[i] = args[i];
  const bool variadic =
      signature.positional < signature.parameters.size() &&
      signature.parameters[signature.positional].kind == Parameter::Kind::variadic;
  if (variadic) {
    bound.variadic = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count - named)));
    for (std::size_t i = named; i < count; ++i) {
      Py_INCREF(args[i]);
      PyTuple_SET_ITEM(bound.variadic.ptr(), static_cast<Py_ssize_t>(i - named), args[i]);
    }
    bound.values[signature.positional] = bound.variadic.ptr();
  } else if (count > named) {
    mismatch(signature,
             fmt::format("takes {} positional arguments, not {}", signature.positional, count));
  }
}

/// True if a parameter's name (may be null) equals a keyword.
bool is_named(PyObject* name, PyObject* keyword) {
  return name != nullptr && (name == keyword || PyUnicode_Compare(name, keyword) == 0);
}

void bind_keyword(const Signature& signature, PyObject* key, PyObject* value, Bound& bound) {
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    if (!is_named(parameter.key, key) && !is_named(parameter.alias, key)) continue;
    if (parameter.kind == Parameter::Kind::positional_only) {
      mismatch(signature, parameter.name + " is given by position only");
    }
    if (parameter.kind >= Parameter::Kind::keywords) break;
    if (parameter.kind == Parameter::Kind::variadic) continue;
    if (bound.values[i] != nullptr) mismatch(signature, parameter.name + " is given twice");
    bound.values[i] = value;
    return;
  }
  if (signature.parameters.empty() ||
      signature.parameters.back().kind != Parameter::Kind::keywords) {
    mismatch(signature, fmt::format("has no parameter {}", PyUnicode_AsUTF8(key)));
  }
  if (!bound.keywords.is_valid()) bound.keywords = nb::steal(PyDict_New());
  if (PyDict_SetItem(bound.keywords.ptr(), key, value) != 0) throw nb::python_error();
  bound.values[signature.parameters.size() - 1] = bound.keywords.ptr();
}

Bound bind(const Signature& signature, PyObject* const* args, std::size_t count,
           PyObject* keywords) {
  Bound bound;
  bind_positions(signature, args, count, bound);
  const Py_ssize_t keyword_count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < keyword_count; ++i) {
    bind_keyword(signature, PyTuple_GET_ITEM(keywords, i),
                 args[count + static_cast<std::size_t>(i)], bound);
  }
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    if (bound.values[i] != nullptr) continue;
    bound.values[i] = signature.parameters[i].fallback;
    if (bound.values[i] == nullptr) {
      mismatch(signature, "the argument " + signature.parameters[i].name + " is missing");
    }
  }
  return bound;
}

/// Makes 0-d results, or the 0-d items of a tuple, arrays rather than scalars.
void make_variables(nb::handle result) {
  if (PyTuple_Check(result.ptr())) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result.ptr()); ++i)
      make_variables(PyTuple_GET_ITEM(result.ptr(), i));
  } else if (Py_REFCNT(result.ptr()) == 1) {  // an argument has the caller's reference as well
    if (ArrayObject* const made = as_array(result)) made->base().is_scalar = false;
  }
}

PyObject* invoke(const Function& function, PyObject* const* args, std::size_t count,
                 PyObject* keywords) {
  const Signature& signature = function.signature;
  const Bound bound = bind(signature, args, count, keywords);
  const SourceLocation where = python_location();
  statement_point();
  if (function.ufunc != nullptr) {
    return call_ufunc(function, bound.values.data(), where).release().ptr();
  }
  nb::object result = function.implementation(Arguments(signature, bound.values.data(), where));
  if (function.gives_variables) make_variables(result);
  if (signature.out < 0) return result.release().ptr();
  const nb::handle out = bound.values[static_cast<std::size_t>(signature.out)];
  if (out.is_none()) return result.release().ptr();
  ArrayObject& target = out_array(out, signature.name);
  Array value = as_array(result)->read(where);
  if (function.casts_outs) value = value.astype(target.read(where).dtype(), where);
  store(target, value, signature.name.c_str(), where);
  return nb::borrow(out).release().ptr();
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    return invoke(function_of(self), args, static_cast<std::size_t>(PyVectorcall_NARGS(flags)),
                  keywords);
  });
}

PyObject* bind_to(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* text(const std::string& value) {
  return PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
}

PyObject* get_name(PyObject* self, void*) { return text(function_of(self).signature.name); }
PyObject* get_text_signature(PyObject* self, void*) {
  return text(function_of(self).signature.text);
}
PyObject* get_declaration(PyObject* self, void*) {
  return text(function_of(self).signature.declaration);
}
PyObject* get_documentation(PyObject* self, void*) { return text(function_of(self).documentation); }
PyObject* get_module(PyObject*, void*) { return PyUnicode_FromString("heddle"); }
PyObject* represent(PyObject* self) {
  return text("<function heddle." + function_of(self).signature.name + ">");
}
/// Pickles the function by name.
PyObject* reduce(PyObject* self, PyObject*) { return get_name(self, nullptr); }

PyGetSetDef properties[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__text_signature__", get_text_signature, nullptr, nullptr, nullptr},
    {"__declaration__", get_declaration, nullptr, nullptr, nullptr},
    {"__doc__", get_documentation, nullptr, nullptr, nullptr},
    {"__module__", get_module, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind_to)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec specification = {"heddle.Function", sizeof(FunctionObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots};

}  // namespace

const Function& function_of(PyObject* object) {
  return *reinterpret_cast<FunctionObject*>(object)->function;
}

void bind_function_type(nb::module_& module) {
  PyObject* type = PyType_FromSpec(&specification);
  if (type == nullptr) throw nb::python_error();
  function_type = reinterpret_cast<PyTypeObject*>(type);
  module.attr("Function") = nb::handle(type);
}

std::string named(std::string_view name, std::string_view parameters) {
  return fmt::format("{}{}", name, parameters);
}

nb::handle Functions::array_class() { return nb::type<ArrayObject>(); }

std::string Functions::as_method(std::string_view declaration) {
  const std::size_t open = declaration.find('(') + 1, end = declaration.find_first_of(":,)", open);
  const std::size_t rest = declaration[end] == ':' ? declaration.find_first_of(",)", end) : end;
  return std::string(declaration.substr(0, open)) + "self" + std::string(declaration.substr(rest));
}

void Functions::add(nb::handle owner, std::string_view declaration, std::string documentation,
                    Function::Implementation implementation, const Ufunc* ufunc) {
  auto* function = new Function{parse_signature(declaration),
                                std::move(documentation),
                                implementation,
                                ufunc,
                                casts_outs_,
                                gives_variables_};
  if (ufunc != nullptr) hide_placed_outs(function->signature);
  if (function->signature.parameters.size() > most_parameters) {
    throw std::length_error(function->signature.name + " has too many parameters");
  }
  PyTypeObject* const type =
      ufunc == nullptr ? function_type : reinterpret_cast<PyTypeObject*>(ufunc_type().ptr());
  auto* object = PyObject_New(FunctionObject, type);
  if (object == nullptr) throw nb::python_error();
  object->call = call;
  object->function = function;
  const nb::object held = nb::steal(reinterpret_cast<PyObject*>(object));
  nb::setattr(owner, function->signature.name.c_str(), held);
}

void Functions::add_ufunc(std::string_view name, const Ufunc& ufunc, std::string documentation,
                          Function::Implementation implementation) {
  add(module_, ufunc_declaration(name, ufunc), std::move(documentation), implementation,
      new Ufunc(ufunc));
}

ArrayObject& out_array(nb::handle out, const std::string& name) {
  ArrayObject* const target = as_array(out);
  if (target == nullptr)
    raise(PyExc_TypeError, name + ": out must be an Array, not " + describe_foreign(out));
  if (target->is_scalar())
    raise(PyExc_TypeError, name +
                               ": out must be an array, not a scalar; heddle.zeros(()) makes a "
                               "0-d array");
  return *target;
}

void store(ArrayObject& target, const Array& result, const char* op, const SourceLocation& where) {
  target.write(frontend::in_place(op, target.read(where), result, where), where);
}

nb::object to_result(std::vector<Array> arrays) {
  nb::list result;
  for (Array& array : arrays) result.append(wrap(std::move(array)));
  return nb::tuple(result);
}

nb::object to_result(std::pair<Array, Array> arrays) {
  return nb::make_tuple(wrap(std::move(arrays.first)), wrap(std::move(arrays.second)));
}

}  // namespace heddle::python
