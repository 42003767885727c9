#include "frontend/python/tree.h"

#include <fmt/format.h>

#include "frontend/python/arguments.h"

namespace heddle::python {
namespace {

/// Dataclasses are Python classes, so other types are excluded quickly.
bool is_dataclass(nb::handle value) {
  return (Py_TYPE(value.ptr())->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 &&
         !PyType_Check(value.ptr()) &&
         nb::hasattr(nb::handle(value.type()), "__dataclass_fields__");
}

bool is_plain_type(nb::handle value) {
  PyTypeObject* type = Py_TYPE(value.ptr());
  return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
         type == &PyUnicode_Type || value.is_none() || as_array(value) != nullptr;
}

}  // namespace

bool is_container(nb::handle value) {
  if (is_plain_type(value)) return false;
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyDict_Check(value.ptr()) ||
         is_dataclass(value);
}

Container::Container(nb::handle value) : value_(value) {
  if (PyDict_Check(value.ptr())) {
    keys_ = nb::borrow<nb::dict>(value).keys();
    children_ = nb::borrow<nb::dict>(value).values();
  } else if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    for (nb::handle child : nb::borrow(value)) children_.append(child);
  } else {
    for (nb::handle name : value.type().attr("__dataclass_fields__")) {
      keys_.append(name);
      children_.append(nb::getattr(value, name));
    }
  }
}

std::string Container::structure() const {
  std::string text =
      fmt::format("{}#{}(", static_cast<const void*>(Py_TYPE(value_.ptr())), children_.size());
  for (nb::handle key : keys_) {
    const std::string name = nb::repr(key).c_str();
    text += fmt::format("{}:{},", name.size(), name);
  }
  return text;
}

std::string Container::accessor(std::size_t child) const {
  if (PyDict_Check(value_.ptr())) return fmt::format("[{}]", nb::repr(keys_[child]).c_str());
  if (keys_.size() > 0) return fmt::format(".{}", nb::str(nb::object(keys_[child])).c_str());
  const nb::object fields = nb::getattr(value_.type(), "_fields", nb::none());
  if (fields.is_none()) return fmt::format("[{}]", child);
  return fmt::format(".{}", nb::str(nb::object(fields[child])).c_str());
}

nb::object Container::rebuild(const nb::list& children) const {
  if (PyList_Check(value_.ptr())) return children;
  if (PyTuple_Check(value_.ptr())) {
    const nb::tuple items(children);
    const nb::handle type = value_.type();
    return nb::hasattr(type, "_fields") ? type(*items) : nb::object(items);
  }
  if (PyDict_Check(value_.ptr())) {
    nb::dict result;
    for (std::size_t i = 0; i < children.size(); ++i) result[keys_[i]] = children[i];
    return result;
  }
  nb::object result = nb::module_::import_("copy").attr("copy")(value_);
  const nb::object set = nb::module_::import_("builtins").attr("object").attr("__setattr__");
  for (std::size_t i = 0; i < children.size(); ++i) set(result, keys_[i], children[i]);
  return result;
}

}  // namespace heddle::python
