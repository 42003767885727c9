#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "frontend/python/function.h"
#include "ir/types/op.h"

namespace heddle::python {

/// Properties of a function that is one of NumPy's ufuncs. Such a function takes `out`, `where`,
/// `casting`, `order`, `dtype`, `subok` and `signature`, and has the attributes of numpy.ufunc. Its
/// methods, such as reduce, are composed of the module's functions: heddle/_ufunc.py.
struct Ufunc {
  int inputs;
  int outputs;
  ir::TypeRule rule;    ///< how operand dtypes determine the result dtypes
  ir::DTypeSet dtypes;  ///< supported dtypes of the operands, after promotion
  PyObject* identity;   ///< start value of reductions; None if there is none
};

/// Python's type heddle.ufunc, a subtype of heddle.Function.
void bind_ufunc_type(nb::module_& module);
nb::handle ufunc_type();

/// "add(x1: Operand, x2: Operand, /, out: ..., *, where: ...) -> Array", as in NumPy.
std::string ufunc_declaration(std::string_view name, const Ufunc& ufunc);
/// Hides the positional `out` parameters: as in NumPy, only `out` is shown, which takes all
/// results.
void hide_placed_outs(Signature& signature);
/// NumPy's result of an empty reduction with the ufunc of this name.
PyObject* ufunc_identity(std::string_view name);

/// The results of a call. `values` are in the order of the declaration.
nb::object call_ufunc(const Function& function, PyObject* const* values,
                      const SourceLocation& where);

}  // namespace heddle::python
