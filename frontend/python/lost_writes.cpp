#include "frontend/python/lost_writes.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/python/arguments.h"
#include "frontend/python/array_object.h"

namespace heddle::python {

nb::object LostWrites::argument(const Array& value, bool is_scalar) {
  ArrayObject given(value);
  given.base().is_scalar = is_scalar;
  nb::object array = nb::cast(std::move(given));
  arguments_.emplace_back(array, frontend::Access::raw(value));
  return array;
}

void LostWrites::check(const std::string& function, bool returns_arrays) const {
  if (returns_arrays) return;
  const bool wrote = std::any_of(arguments_.begin(), arguments_.end(), [](const auto& argument) {
    const auto& [array, before] = argument;
    return !(frontend::Access::raw(as_array(array)->base().value) == before);
  });
  if (!wrote) return;
  const std::string message = fmt::format(
      "the jitted function {} writes to its arguments but returns no Array, so the call has no "
      "effect: inside, arguments are values; return the new values and assign them",
      function);
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) throw nb::python_error();
}

}  // namespace heddle::python
