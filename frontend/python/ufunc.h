#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "frontend/python/function.h"
#include "ir/types/op.h"

namespace heddle::python {

/// What makes a function of the module one of NumPy's ufuncs: `out`, `where`, `casting`, `order`,
/// `dtype`, `subok` and `signature` among its arguments, and the attributes of numpy.ufunc. Its
/// methods, reduce and the like, are composed of the module's functions: heddle/_ufunc.py.
struct Ufunc {
  int inputs;
  int outputs;
  ir::TypeRule rule;    ///< how operand dtypes give the results'
  ir::DTypeSet dtypes;  ///< of the operands once they are promoted
  PyObject* identity;   ///< what reductions start from; None where there is none
};

/// Python's type heddle.ufunc, a subtype of heddle.Function.
void bind_ufunc_type(nb::module_& module);
nb::handle ufunc_type();

/// "add(x1: Operand, x2: Operand, /, out: ..., *, where: ...) -> Array": everything is NumPy's.
std::string ufunc_declaration(std::string_view name, const Ufunc& ufunc);
/// NumPy shows the parameter `out` only, which takes all results, and not those by position.
void hide_placed_outs(Signature& signature);
/// What NumPy reduces nothing to with a ufunc of this name.
PyObject* ufunc_identity(std::string_view name);

/// The results for a call's values, which are in the order of the declaration.
nb::object call_ufunc(const Function& function, PyObject* const* values,
                      const SourceLocation& where);

}  // namespace heddle::python
