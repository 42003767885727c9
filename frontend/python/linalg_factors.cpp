#include "heddle/linalg.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/linalg_functions.h"
#include "frontend/python/named_tuple.h"

namespace heddle::python {

namespace {

linalg::QrMode qr_mode(const std::string& name) {
  using linalg::QrMode;
  if (name == "reduced") return QrMode::reduced;
  if (name == "complete") return QrMode::complete;
  if (name == "r") return QrMode::r;
  if (name == "raw") return QrMode::raw;
  raise(PyExc_ValueError,
        "linalg.qr: mode must be 'reduced', 'complete', 'r' or 'raw', not '" + name + "'");
}

nb::object qr(const Arguments& a) {
  static const NamedTuple type("QRResult", "Q R");
  const linalg::QrMode mode = qr_mode(a.text(1));
  const linalg::QrFactors made = linalg::qr(a.operand(0), mode);
  if (mode == linalg::QrMode::r) return wrap(made.r);
  if (mode == linalg::QrMode::raw) return nb::make_tuple(wrap(made.q), wrap(made.r));
  return type(wrap(made.q), wrap(made.r));
}

}  // namespace

void bind_factors(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "qr(a: Array, mode: str = 'reduced') -> tuple[Array, Array]",
      "QR factors of matrices of shape [..., m, n]: numpy.linalg.qr. mode 'reduced' gives the "
      "named "
      "tuple (Q, R) with min(m, n) columns of Q, 'complete' with m, 'r' only R, and 'raw' "
      "Householder reflectors and their factors, (h, tau).\n\n"
      "Raises ShapeError for fewer than two axes, DTypeError for float16 and bfloat16, ValueError "
      "for another mode.\n\n"
      "Example: q, r = hd.linalg.qr(a)",
      [](const Arguments& a) { return qr(a); });
  functions.def_in(
      module,
      "lu_factor(a: Array, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, "
      "Array]",
      "LU factors with partial pivoting of matrices of shape [..., m, n]: scipy.linalg.lu_factor. "
      "The result is (lu, piv): U on and above the diagonal of lu and L, whose diagonal is 1, "
      "below "
      "it; row i was swapped with row piv[i]. A singular matrix is no error. overwrite_a and "
      "check_finite are ignored. Raises ShapeError, DTypeError.",
      [](const Arguments& a) -> nb::object {
        const linalg::LuFactors made = linalg::lu_factor(a.operand(0));
        return nb::make_tuple(wrap(made.lu), wrap(made.pivots));
      });
  functions.def_in(
      module, "permutation_of_pivots(pivots: Array, rows: int = 0) -> Array",
      "The order of the rows that pivots of lu_factor stand for, of shape [..., rows]: a[order] = "
      "L "
      "U. By default there are as many rows as pivots. A GPU's pivots are copied to the host.",
      [](const Arguments& a) { return linalg::permutation_of_pivots(a.operand(0), a.integer(1)); });
}

}  // namespace heddle::python
