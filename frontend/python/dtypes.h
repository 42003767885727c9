#pragma once

#include <optional>
#include <string_view>

#include <nanobind/nanobind.h>

#include "heddle/dtype.h"
#include "heddle/dtype_info.h"

namespace heddle::python {

namespace nb = nanobind;

/// heddle.float32 and its like: one object a dtype.
struct DTypeObject {
  DType dtype;
};

void bind_dtypes(nb::module_& module);

nb::object to_python(DType dtype);
/// What a dtype= argument names: a heddle dtype, one of Python's types, a NumPy dtype or scalar
/// type, or a name. TypeError for anything else.
DType to_dtype(nb::handle value);
/// The same for the objects that certainly are dtypes; nullopt for others, strings among them.
std::optional<DType> as_dtype(nb::handle value);

/// What a casting= argument of a function says: 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'.
/// TypeError, ValueError for anything else.
Casting to_casting(std::string_view function, nb::handle value);

/// TypeError for a dtype of NumPy's that there is none for here: what it is, and what to do.
/// `function` names who asks.
[[noreturn]] void refuse_numpy_dtype(std::string_view function, nb::handle dtype);

/// NumPy's dtype; ml_dtypes has the one that NumPy lacks.
nb::object numpy_dtype(DType dtype);

}  // namespace heddle::python
