#include "heddle/matrices.h"

#include "heddle/polynomials.h"

#include "frontend/python/bindings.h"
#include "frontend/python/device.h"

namespace heddle::python {
namespace {

ArrayObject view(const Arguments& a, const Array& result) {
  return a.object(0).view_of(result, a.where());
}

void bind_polynomials(Functions& functions) {
  functions.def("polyval(p: Array, x: Operand, /) -> Array",
                "The polynomial with these coefficients, the highest power's first, at x: "
                "numpy.polyval.",
                [](const Arguments& a) { return polyval(a.array(0), a.operand(1)); });
  functions.def("convolve(x1: Array, x2: Array, /, mode: str = \"full\") -> Array",
                "The convolution of vectors: numpy.convolve, with its modes.",
                [](const Arguments& a) { return convolve(a.operand(0), a.operand(1), a.text(2)); });
  functions.def(
      "correlate(x1: Array, x2: Array, /, mode: str = \"valid\") -> Array",
      "The cross-correlation of vectors: numpy.correlate, with its modes.",
      [](const Arguments& a) { return correlate(a.operand(0), a.operand(1), a.text(2)); });
}

}  // namespace

void bind_matrices(Functions& functions) {
  functions.def(
      "identity(n: int, dtype: DTypeLike | None = None) -> Array",
      "The square matrix with ones on the diagonal: numpy.identity.",
      [](const Arguments& a) { return identity(a.integer(0), a.dtype(1, DType::f64), a.where()); });
  functions.def(
      "tri(n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike | "
      "None = None) -> Array",
      "Ones on and below the k-th diagonal: numpy.tri.", [](const Arguments& a) {
        return tri(a.integer(0), a.optional_integer(1).value_or(-1), a.integer(2),
                   a.dtype(3, DType::f64), a.where());
      });
  functions.def("tril(x: Array, /, *, k: int = 0) -> Array",
                "Matrices with zeros above the k-th diagonal: numpy.tril. Raises ShapeError for a "
                "0-d array.",
                [](const Arguments& a) { return tril(a.operand(0), a.integer(1)); });
  functions.def("triu(x: Array, /, *, k: int = 0) -> Array",
                "Matrices with zeros below the k-th diagonal: numpy.triu. Raises ShapeError for a "
                "0-d array.",
                [](const Arguments& a) { return triu(a.operand(0), a.integer(1)); });
  functions.def_with_method(
      "diagonal(x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array",
      "The diagonals of the planes of two axes, last in the result: numpy.diagonal.",
      [](const Arguments& a) {
        return view(a, diagonal(a.operand(0), a.integer(1), a.integer(2), a.integer(3)));
      });
  functions.def("diag(x: Array, /, k: int = 0) -> Array",
                "The k-th diagonal of a matrix, or a matrix with the vector on it: numpy.diag.",
                [](const Arguments& a) { return view(a, diag(a.operand(0), a.integer(1))); });
  functions.def("diagflat(x: Array, /, k: int = 0) -> Array",
                "The flattened array on the k-th diagonal of a matrix: numpy.diagflat.",
                [](const Arguments& a) { return diagflat(a.operand(0), a.integer(1)); });
  functions.def_with_method(
      "trace(x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None "
      "= None, out: Array | None = None) -> Array",
      "The sums of the diagonals of two axes: numpy.trace.", [](const Arguments& a) {
        return trace(a.operand(0), a.integer(1), a.integer(2), a.integer(3), a.dtype(4));
      });
  functions.def("vander(x: Array, /, N: int | None = None, increasing: bool = False) -> Array",
                "Powers of a vector as columns: numpy.vander.", [](const Arguments& a) {
                  return vander(a.operand(0), a.optional_integer(1).value_or(-1), a.flag(2));
                });
  bind_polynomials(functions);
}

}  // namespace heddle::python
