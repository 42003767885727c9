#include "heddle/linalg.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/linalg_functions.h"
#include "frontend/python/named_tuple.h"

namespace heddle::python {

namespace {

/// SciPy's `trans`: 0 or "N", 1 or "T", 2 or "C".
linalg::Transposed transposed(const Arguments& a, std::size_t i) {
  using linalg::Transposed;
  const std::string text = nb::isinstance<nb::str>(a[i]) ? a.text(i) : std::string();
  const std::int64_t number = text.empty() ? a.integer(i) : -1;
  if (number == 0 || text == "N") return Transposed::no;
  if (number == 1 || text == "T") return Transposed::yes;
  if (number == 2 || text == "C") return Transposed::conjugate;
  raise(PyExc_ValueError, a.name() + ": trans must be 0, 1, 2, 'N', 'T' or 'C'");
}

}  // namespace

void bind_equations(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "solve(a: Array, b: Array) -> Array",
      "The solutions x of a x = b, for square matrices a and b, a vector of shape [n] or matrices "
      "[..., n, k]: numpy.linalg.solve. Batch axes broadcast.\n\n"
      "Raises ShapeError, DTypeError for float16 and bfloat16, and LinAlgError, which names the "
      "first singular matrix.\n\n"
      "Example: hd.linalg.solve(a, b)",
      [](const Arguments& a) { return linalg::solve(a.operand(0), a.operand(1)); });
  functions.def_in(module, "inv(a: Array) -> Array",
                   "The inverses of square matrices: numpy.linalg.inv. Raises as solve.",
                   [](const Arguments& a) { return linalg::inv(a.operand(0)); });
  functions.def_in(module, "det(a: Array) -> Array",
                   "The determinants of square matrices: numpy.linalg.det. Raises ShapeError, "
                   "DTypeError.",
                   [](const Arguments& a) { return linalg::det(a.operand(0)); });
  functions.def_in(
      module, "slogdet(a: Array) -> tuple[Array, Array]",
      "The sign and the logarithm of the absolute value of the determinants of square matrices, "
      "as a named tuple (sign, logabsdet): numpy.linalg.slogdet. Singular matrices give 0 and "
      "-inf. Raises ShapeError, DTypeError.",
      [](const Arguments& a) -> nb::object {
        static const NamedTuple type("SlogdetResult", "sign logabsdet");
        const linalg::SignAndLogarithm made = linalg::slogdet(a.operand(0));
        return type(wrap(made.sign), wrap(made.logabsdet));
      });
  functions.def_in(
      module, "tensorsolve(a: Array, b: Array, axes: int | tuple[int, ...] | None = None) -> Array",
      "The x of tensordot(a, x, x.ndim) = b: numpy.linalg.tensorsolve. `axes` of a are moved to "
      "the "
      "end first. Raises ShapeError, LinAlgError.",
      [](const Arguments& a) {
        return linalg::tensorsolve(a.operand(0), a.operand(1), a.axes(2));
      });
  functions.def_in(
      module, "tensorinv(a: Array, ind: int = 2) -> Array",
      "The inverse of tensordot(a, b, ind): numpy.linalg.tensorinv. Raises ValueError "
      "unless ind is positive, ShapeError, LinAlgError.",
      [](const Arguments& a) { return linalg::tensorinv(a.operand(0), a.integer(1)); });
  functions.def_in(
      module,
      "solve_triangular(a: Array, b: Array, trans: int | str = 0, lower: bool = False, "
      "unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True) -> Array",
      "The solutions x of a x = b, for matrices of which only the upper triangle is read, or the "
      "lower one: scipy.linalg.solve_triangular. trans 1 or 'T' solves with the transpose, 2 or "
      "'C' "
      "with the conjugate transpose. With `unit_diagonal` the diagonal is taken to be 1. Batch "
      "axes "
      "broadcast. overwrite_b and check_finite are ignored.\n\n"
      "Raises ShapeError, DTypeError, ValueError for another trans, and LinAlgError for a 0 on the "
      "diagonal.",
      [](const Arguments& a) {
        return linalg::solve_triangular(
            a.operand(0), a.operand(1),
            {.lower = a.flag(3), .unit_diagonal = a.flag(4), .transposed = transposed(a, 2)});
      });
}

}  // namespace heddle::python
