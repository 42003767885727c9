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
        fmt::format("{}: the casting rule does not allow {} as {}; casting='unsafe' does", function,
                    numpy_name_of(array.dtype()), numpy_name_of(dtype)),
        where));
  }
  return astype({array, where}, dtype);
}

}  // namespace heddle::python
