#pragma once

#include <string>

#include "heddle/array.h"
#include "heddle/dtype_info.h"

namespace heddle::python {

/// The array cast to a dtype. DTypeError, naming the function, if the rule does not allow the cast.
Array cast_by_rule(const std::string& function, const Array& array, DType dtype, Casting rule,
                   const SourceLocation& where);

/// Warns with numpy.exceptions.ComplexWarning if the cast discards imaginary parts.
void warn_if_complex(DType from, DType to);

}  // namespace heddle::python
