#pragma once

#include <optional>
#include <string_view>

#include <nanobind/nanobind.h>

#include "heddle/dtype.h"
#include "heddle/dtype_info.h"

namespace heddle::python {

namespace nb = nanobind;

/// A dtype object, such as heddle.float32; one for each dtype.
struct DTypeObject {
  DType dtype;
};

void bind_dtypes(nb::module_& module);

nb::object to_python(DType dtype);
/// The dtype of a dtype= argument: a heddle dtype, a Python type, a NumPy dtype or scalar type, or
/// a name. TypeError for anything else.
DType to_dtype(nb::handle value);
/// The same for objects that can only be dtypes; nullopt for others, strings included.
std::optional<DType> as_dtype(nb::handle value);

/// A casting= argument of a function: 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'. TypeError or
/// ValueError for anything else.
Casting to_casting(std::string_view function, nb::handle value);

/// Raises TypeError for a NumPy dtype that is not supported, with a description and advice.
/// `function` is the name of the caller.
[[noreturn]] void refuse_numpy_dtype(std::string_view function, nb::handle dtype);

/// NumPy's dtype; for bfloat16, that of ml_dtypes.
nb::object numpy_dtype(DType dtype);

}  // namespace heddle::python
