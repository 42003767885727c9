#include "heddle/matrices.h"

#include "frontend/python/array_object.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"

namespace heddle::python {

void bind_matrices(Functions& functions) {
  functions.def(
      "identity(n: int, dtype: DTypeLike | None = None, *, device: Device | None = None, like: Any "
      "= "
      "None) -> Array",
      "The n x n identity matrix, float64 by default: numpy.identity.", [](const Arguments& a) {
        a.check_like(3);
        return on_device(identity(a.integer(0), a.dtype(1, DType::f64), a.where()), a[2]);
      });
  functions.def(
      "tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, *, device: "
      "Device | None = None, like: Any = None) -> Array",
      "An N x M matrix with ones on and below the k-th diagonal and zeros elsewhere, float64 by "
      "default: numpy.tri. M is N by default.",
      [](const Arguments& a) {
        a.check_like(5);
        return on_device(tri(a.integer(0), a.optional_integer(1).value_or(a.integer(0)),
                             a.integer(2), a.dtype(3, DType::f64), a.where()),
                         a[4]);
      });
  functions.def("tril(m: Array, k: int = 0) -> Array",
                "m with zeros above the k-th diagonal of its last two axes: numpy.tril. Raises "
                "ShapeError for a 0-d array.",
                [](const Arguments& a) { return tril(a.operand(0), a.integer(1)); });
  functions.def("triu(m: Array, k: int = 0) -> Array",
                "m with zeros below the k-th diagonal of its last two axes: numpy.triu.",
                [](const Arguments& a) { return triu(a.operand(0), a.integer(1)); });
  functions.def("diag(v: Array, k: int = 0) -> Array",
                "The k-th diagonal of a matrix as a read-only view, or for a 1-d array the matrix "
                "with it as k-th diagonal: numpy.diag. Raises ValueError for other arrays.",
                [](const Arguments& a) {
                  const Array result = diag(a.operand(0), a.integer(1));
                  if (a.array(0).ndim() == 1) return ArrayObject(result);
                  return a.object(0).view_of(result, a.where()).as_read_only();
                });
  functions.def("diagflat(v: Array, k: int = 0) -> Array",
                "A matrix of zeros with the flattened array as its k-th diagonal: numpy.diagflat.",
                [](const Arguments& a) { return diagflat(a.operand(0), a.integer(1)); });
  functions.def_with_method(
      "diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array",
      "A read-only view of the diagonals over two axes, which are replaced by a last axis: "
      "numpy.diagonal. Raises ShapeError for fewer than two axes, ValueError if both axes are the "
      "same.",
      [](const Arguments& a) {
        const Array result = diagonal(a.operand(0), a.integer(1), a.integer(2), a.integer(3));
        return a.object(0).view_of(result, a.where()).as_read_only();
      });
  functions.def_with_method(
      "trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None "
      "= None, out: Array | None = None) -> Array",
      "The sums of the diagonals over two axes, accumulated like sum: numpy.trace.",
      [](const Arguments& a) {
        return trace(a.operand(0), a.integer(1), a.integer(2), a.integer(3), a.dtype(4));
      });
  functions.def("vander(x: Array, N: int | None = None, increasing: bool = False) -> Array",
                "A matrix whose N columns are powers of the vector, from N - 1 down to 0, or "
                "upward with `increasing`: numpy.vander. N is the length of x by default.",
                [](const Arguments& a) {
                  return vander(a.operand(0), a.optional_integer(1).value_or(-1), a.flag(2));
                });
}

}  // namespace heddle::python
