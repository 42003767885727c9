#include "frontend/python/casting.h"

#include <fmt/format.h>

#include "heddle/manipulation.h"

#include "frontend/graph/record.h"
#include "frontend/python/dtypes.h"

namespace heddle::python {

Array cast_by_rule(const std::string& function, const Array& array, DType dtype, Casting rule,
                   const SourceLocation& where) {
  if (!can_cast(array.dtype(), dtype, rule)) {
    throw DTypeError(frontend::at(
        fmt::format(
            "{}: the casting rule does not allow a cast from {} to {}; casting='unsafe' does",
            function, numpy_name_of(array.dtype()), numpy_name_of(dtype)),
        where));
  }
  warn_if_complex(array.dtype(), dtype);
  return astype({array, where}, dtype);
}

void warn_if_complex(DType from, DType to) {
  if (!is_complex(from) || is_complex(to) || is_boolean(to)) return;
  const nb::object type = nb::module_::import_("numpy.exceptions").attr("ComplexWarning");
  const char* const message = "Casting complex values to real discards the imaginary part";
  if (PyErr_WarnEx(type.ptr(), message, 1) < 0) throw nb::python_error();
}

}  // namespace heddle::python
