#include "heddle/linalg.h"

#include "heddle/jit.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/linalg_functions.h"

namespace heddle::python {

namespace {

LinAlgErrors errors_named(const std::string& name) {
  if (name == "raise") return LinAlgErrors::raise;
  if (name == "defer") return LinAlgErrors::defer;
  if (name == "ignore") return LinAlgErrors::ignore;
  throw ValueError("errstate: linalg must be 'raise', 'defer' or 'ignore', not '" + name + "'");
}

const char* name_of(LinAlgErrors errors) {
  if (errors == LinAlgErrors::raise) return "raise";
  return errors == LinAlgErrors::defer ? "defer" : "ignore";
}

}  // namespace

void bind_linalg(Functions& functions) {
  nb::module_ module = functions.module().def_submodule(
      "linalg", "Matrix factorisations and solutions of equations, like numpy.linalg.");
  module.attr("LinAlgError") = functions.module().attr("LinAlgError");
  functions.def_in(
      module, "cholesky(a: Array, /, *, upper: bool = False) -> Array",
      "The Cholesky factors of Hermitian positive definite matrices of shape [..., n, n]: "
      "numpy.linalg.cholesky. Only the lower triangles are read, or the upper ones with "
      "`upper`.\n\n"
      "Raises ShapeError for matrices that are not square, DTypeError for float16 and bfloat16, "
      "and LinAlgError, which names the first matrix that is not positive definite. "
      "heddle.errstate sets when LinAlgError is raised.\n\n"
      "Example: hd.linalg.cholesky(a @ a.T + n * hd.eye(n))",
      [](const Arguments& a) { return linalg::cholesky(a.operand(0), {.upper = a.flag(1)}); });
  bind_equations(functions, module);
  bind_factors(functions, module);
  bind_linalg_products(functions, module);
  bind_spectral(functions, module);
  functions.def("_tracing() -> bool", "Whether a function is being traced.",
                [](const Arguments&) { return frontend::tracing(); });
  functions.def("_set_linalg_errors(errors: str, /) -> str",
                "Sets this thread's mode for errors of linear algebra; returns the previous mode.",
                [](const Arguments& a) {
                  return nb::object(nb::str(name_of(set_linalg_errors(errors_named(a.text(0))))));
                });
}

}  // namespace heddle::python
