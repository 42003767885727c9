#include "frontend/python/captures.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/python/arguments.h"

namespace heddle::python {
namespace {

/// Maximum nesting depth at which objects are searched.
constexpr int deepest = 6;

class Finder {
 public:
  Captures finish() && { return std::move(found_); }

  void visit_callable(nb::handle callable, int depth) {
    if (PyMethod_Check(callable.ptr())) {
      visit(PyMethod_GET_SELF(callable.ptr()), depth);
      return visit_callable(PyMethod_GET_FUNCTION(callable.ptr()), depth);
    }
    if (!PyFunction_Check(callable.ptr())) return visit_object(callable, depth);
    if (!is_new(callable)) return;
    note("f");
    visit_names(PyFunction_GET_CODE(callable.ptr()), PyFunction_GET_GLOBALS(callable.ptr()), depth);
    if (PyObject* cells = PyFunction_GET_CLOSURE(callable.ptr()); cells != nullptr) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); ++i) {
        PyObject* const held = PyCell_GET(PyTuple_GET_ITEM(cells, i));
        if (held != nullptr) visit(held, depth);
      }
    }
    if (PyObject* defaults = PyFunction_GET_DEFAULTS(callable.ptr()); defaults != nullptr) {
      visit(defaults, depth);
    }
  }

  void visit(nb::handle value, int depth) {
    if (depth > deepest) return;
    PyObject* object = value.ptr();
    if (const ArrayObject* array = as_array(value)) return add(*array);
    if (PyFunction_Check(object) || PyMethod_Check(object)) return visit_callable(value, depth + 1);
    if (PyList_Check(object) || PyTuple_Check(object)) {
      if (!is_new(value)) return;
      note("l");
      for (nb::handle each : nb::borrow(value)) visit(each, depth + 1);
    } else if (PyDict_Check(object)) {
      visit_dict(nb::borrow<nb::dict>(value), depth);
    } else {
      visit_object(value, depth);
    }
  }

 private:
  void note(std::string_view text) { found_.key += text; }

  /// False for an object that was already visited. There are few, so a linear search suffices.
  bool is_new(nb::handle value) {
    if (std::find(seen_.begin(), seen_.end(), value.ptr()) != seen_.end()) return false;
    seen_.push_back(value.ptr());
    return true;
  }

  /// Visits the globals that the code mentions, and nested code objects.
  void visit_names(nb::handle code, PyObject* globals, int depth) {
    const auto* const object = reinterpret_cast<const PyCodeObject*>(code.ptr());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object->co_names); ++i) {
      PyObject* const value = PyDict_GetItem(globals, PyTuple_GET_ITEM(object->co_names, i));
      if (value != nullptr) visit(value, depth);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object->co_consts); ++i) {
      const nb::handle constant = PyTuple_GET_ITEM(object->co_consts, i);
      if (PyCode_Check(constant.ptr())) visit_names(constant, globals, depth);
    }
  }

  void visit_dict(const nb::dict& dict, int depth) {
    if (!is_new(dict)) return;
    for (auto [key, value] : dict) {
      if (nb::isinstance<nb::str>(key)) note(nb::borrow<nb::str>(key).c_str());
      note("=");
      visit(value, depth + 1);
    }
  }

  /// Visits the attributes of an instance of a Python class; ignores modules and classes.
  void visit_object(nb::handle value, int depth) {
    if (PyModule_Check(value.ptr()) || PyType_Check(value.ptr())) return;
    if ((Py_TYPE(value.ptr())->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return;
    if (!nb::hasattr(value, "__dict__")) return;
    if (!is_new(value)) return;
    const nb::object fields = value.attr("__dict__");
    if (PyDict_Check(fields.ptr())) visit_dict(nb::borrow<nb::dict>(fields), depth);
  }

  void add(const ArrayObject& array) {
    const auto same =
        std::find_if(found_.arrays.begin(), found_.arrays.end(),
                     [&](const ArrayObject* each) { return &each->base() == &array.base(); });
    note(fmt::format("a{}", same - found_.arrays.begin()));
    for (const ViewStep& step : array.steps()) {
      note(fmt::format("{}", static_cast<int>(step.op)));
      for (const ir::Dim& extent : step.attributes.shape) note("," + extent.to_string());
      for (const ir::Dim& start : step.attributes.starts) note("+" + start.to_string());
      for (const ir::Dim& stride : step.attributes.steps) note("*" + stride.to_string());
      for (std::int64_t axis : step.attributes.axes) note(fmt::format("/{}", axis));
    }
    if (same == found_.arrays.end()) found_.arrays.push_back(&array);
  }

  Captures found_;
  std::vector<PyObject*> seen_;
};

}  // namespace

Captures find_captures(nb::handle function, const std::vector<nb::handle>& arguments) {
  Finder finder;
  finder.visit_callable(function, 0);
  for (nb::handle argument : arguments) finder.visit(argument, 0);
  return std::move(finder).finish();
}

}  // namespace heddle::python
