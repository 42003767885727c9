#include "frontend/python/paths.h"

#include "frontend/python/arguments.h"
#include "frontend/python/errors.h"

namespace heddle::python {

std::string bytes_of(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return utf8_of(value);
  if (!nb::isinstance<nb::bytes>(value))
    raise(PyExc_TypeError, "expected text, not " + describe_foreign(value));
  const auto bytes = nb::borrow<nb::bytes>(value);
  return {bytes.c_str(), bytes.size()};
}

std::optional<std::string> path_of(nb::handle value) {
  if (!nb::isinstance<nb::str>(value) && !nb::hasattr(value, "__fspath__")) return std::nullopt;
  const nb::object path = nb::module_::import_("os").attr("fsencode")(value);
  std::string bytes = bytes_of(path);
  if (bytes.find('\0') != std::string::npos)
    raise(PyExc_ValueError, "a path must not contain a null character");
  return bytes;
}

}  // namespace heddle::python
